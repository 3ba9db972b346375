// The image that guests of `lab: vm` boot: Debian 12 with what hosts need, as an ext4 file system,
// and beside it a kernel and an initial RAM disk for qemu. User-Mode Linux has its kernel on the
// machine; the image has the modules for it.
//
// An image is made from a recipe, a shell script, and kept in the user's cache directory under a
// name made of the recipe's hash: another recipe (of another version of Ordeal, or of User-Mode
// Linux) is another image.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace ordeal {

// Versions of kernels for which the machine has modules of User-Mode Linux.
std::vector<std::string> uml_kernels();

// Pure. Run as `bash -c "$(cat recipe)" recipe DIRECTORY`: makes the directory, whole or not at
// all, from the Debian mirror that apt uses. Needs root.
std::string image_recipe(const std::vector<std::string>& uml_kernel_versions);

// $XDG_CACHE_HOME/ordeal/images, or ~/.cache/ordeal/images.
std::filesystem::path images_directory();
// Where the image of this recipe is, or would be.
std::filesystem::path image_directory(const std::string& recipe);

// The directory of the image that this program's guests boot. The error says how to build it.
Result<std::filesystem::path> find_image();

struct ImageRequest {
  bool again = false;                           // also where it is there
  std::function<void(const std::string&)> say;  // told what is being done
};

// As find_image, but builds it where it is not there, which takes a minute or two, and the network.
// Safe to repeat, and to interrupt: what is left of that is removed by the next one. surroundings
// where a tool or room on the disk is missing, another process builds, or a step failed (with the
// end of its log).
Result<std::filesystem::path> build_image(const ImageRequest& request, std::stop_token stop);

}  // namespace ordeal
