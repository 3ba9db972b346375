#include "orchestrator/lab/guest_image.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <system_error>

#include "orchestrator/lab/scaffold.h"
#include "remote/process.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kBuildTimeout{30};
// The tree and the image made of it.
constexpr std::uintmax_t kRoomBytes = 3'000'000'000;
constexpr int kLockIsTaken = 75;

const fs::path kUmlModules = "/usr/lib/uml/modules";

bool is_whole(const fs::path& directory) {
  std::error_code ignored;
  return fs::exists(directory / "recipe", ignored);
}

Status check_build_possible(const fs::path& images) {
  if (geteuid() != 0) return surroundings_error("building the guests' image needs root");
  if (const std::string missing =
          missing_tools({"bash", "debootstrap", "flock", "mke2fs", "tar", "unshare"});
      !missing.empty()) {
    return surroundings_error(
        "building the guests' image needs programs that are not installed: {} (packages "
        "debootstrap, e2fsprogs, util-linux)",
        missing);
  }
  std::error_code error;
  fs::create_directories(images, error);
  const fs::space_info room = fs::space(images, error);
  if (error) return surroundings_error("cannot make {}: {}", images.string(), error.message());
  if (room.available >= kRoomBytes) return {};
  return surroundings_error(
      "{}: {} MB are free, and building the guests' image takes up to {} MB; make room, or have "
      "XDG_CACHE_HOME lead elsewhere",
      images.string(), room.available / 1'000'000, kRoomBytes / 1'000'000);
}

std::string last_lines(const std::string& text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  const std::size_t line = text.find('\n', text.size() - bytes);
  return line == std::string::npos ? text.substr(text.size() - bytes) : text.substr(line + 1);
}

// With all that it starts, the recipe ends when it is stopped, and its mounts go with it. The lock
// is held by its processes, so that one whose parent was killed is not disturbed.
Status run_recipe(const fs::path& images, const std::string& recipe, const fs::path& image,
                  std::stop_token stop) {
  const auto output = run_process(
      {{"flock", "--no-fork", "--nonblock", "--conflict-exit-code", std::to_string(kLockIsTaken),
        (images / "lock").string(), "unshare", "--mount", "--pid", "--fork", "--kill-child",
        "--mount-proc", "bash", "-c", recipe, "recipe", image.string()},
       "",
       {{"LC_ALL", "C"}, {"DEBIAN_FRONTEND", "noninteractive"}}},
      kBuildTimeout, stop);
  if (!output) {
    std::error_code ignored;
    fs::remove_all(images / "building", ignored);
    return tl::unexpected(output.error());
  }
  if (output->exit_status == 0) return {};
  if (output->exit_status == kLockIsTaken) {
    return surroundings_error("another process builds the guests' image in {}; wait for it",
                              images.string());
  }
  return surroundings_error(
      "building the guests' image failed with exit status {}; its last words: {}",
      output->exit_status, last_lines(output->standard_output + output->standard_error, 600));
}

}  // namespace

std::vector<std::string> uml_kernels() {
  std::vector<std::string> versions;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(kUmlModules, ignored)) {
    versions.push_back(entry.path().filename());
  }
  std::sort(versions.begin(), versions.end());
  return versions;
}

fs::path images_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return fs::path(cache) / "ordeal/images";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    const passwd* user = getpwuid(geteuid());
    home = user != nullptr ? user->pw_dir : "/";
  }
  return fs::path(home) / ".cache/ordeal/images";
}

fs::path image_directory(const std::string& recipe) {
  return images_directory() / fmt::format("{:016x}", XXH3_64bits(recipe.data(), recipe.size()));
}

Result<fs::path> find_image() {
  const fs::path image = image_directory(image_recipe(uml_kernels()));
  if (is_whole(image)) return image;
  return surroundings_error(
      "there is no image for guests in {}; build it by `ordeal lab image`, once, in about two "
      "minutes",
      image.string());
}

Result<fs::path> build_image(const ImageRequest& request, std::stop_token stop) {
  const std::string recipe = image_recipe(uml_kernels());
  const fs::path image = image_directory(recipe);
  if (is_whole(image) && !request.again) return image;
  ORDEAL_TRY(check_build_possible(image.parent_path()));
  request.say(fmt::format("building the guests' image in {}; this takes about two minutes",
                          image.string()));
  ORDEAL_TRY(run_recipe(image.parent_path(), recipe, image, stop));
  return image;
}

}  // namespace ordeal
