#include "remote/ssh_session.h"

#include <libssh/libssh.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

#include "remote/tcp.h"

namespace ordeal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollSlice_ms = 20;  // how soon a stop request is noticed

template <class T, void (*release)(T*)>
struct Releaser {
  void operator()(T* what) const { release(what); }
};
using Key = std::unique_ptr<ssh_key_struct, Releaser<ssh_key_struct, ssh_key_free>>;

// "SHA256:..." of the key that the host presented.
std::string fingerprint(ssh_session session) {
  ssh_key raw = nullptr;
  if (ssh_get_server_publickey(session, &raw) != SSH_OK) return "an unreadable key";
  const Key key(raw);
  unsigned char* hash = nullptr;
  std::size_t size = 0;
  if (ssh_get_publickey_hash(raw, SSH_PUBLICKEY_HASH_SHA256, &hash, &size) != 0) {
    return "an unreadable key";
  }
  char* text = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size);
  std::string result = text == nullptr ? "an unreadable key" : text;
  ssh_string_free_char(text);
  ssh_clean_pubkey_hash(&hash);
  return result;
}

}  // namespace

std::string describe(const HostSpec& spec) {
  return fmt::format(
      "host {} ({}@{}:{}{}, {})", spec.name, spec.user, spec.address, spec.ssh_port,
      spec.proxy_command.empty() ? "" : " through a jump host",
      spec.identity.empty() ? std::string("keys of the agent") : "key " + spec.identity.string());
}

SshSession::SshSession(const HostSpec& spec) : spec_(spec), session_(ssh_new()) {}

SshSession::~SshSession() {
  if (session_ == nullptr) return;
  ssh_disconnect(session_);
  ssh_free(session_);
}

Result<std::unique_ptr<SshSession>> SshSession::connect(const HostSpec& spec,
                                                        const Patience& patience) {
  std::unique_ptr<SshSession> session(new SshSession(spec));
  if (session->session_ == nullptr) return internal_error("libssh cannot make a session");
  ORDEAL_TRY(session->configure());
  ORDEAL_TRY(session->handshake(patience));
  ORDEAL_TRY(session->check_host_key());
  ORDEAL_TRY(session->login(patience));
  return session;
}

Status SshSession::configure() {
  const int no = 0;
  // The name, not the address, is what known_hosts is searched for. The user's own ssh
  // configuration must not change where a run goes.
  bool good = ssh_options_set(session_, SSH_OPTIONS_PROCESS_CONFIG, &no) == SSH_OK &&
              ssh_options_set(session_, SSH_OPTIONS_HOST, spec_.name.c_str()) == SSH_OK &&
              ssh_options_set(session_, SSH_OPTIONS_PORT, &spec_.ssh_port) == SSH_OK &&
              ssh_options_set(session_, SSH_OPTIONS_USER, spec_.user.c_str()) == SSH_OK;
  if (good && !spec_.known_hosts.empty()) {
    good = ssh_options_set(session_, SSH_OPTIONS_KNOWNHOSTS, spec_.known_hosts.c_str()) == SSH_OK &&
           ssh_options_set(session_, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null") == SSH_OK;
  }
  if (!good) return bad_input("{}: not a valid host: {}", describe(spec_), ssh_get_error(session_));
  ssh_set_blocking(session_, 0);
  return {};
}

Result<UniqueFd> SshSession::reach(const Patience& patience) {
  if (spec_.proxy_command.empty()) return connect_tcp(spec_, patience);
  ORDEAL_TRY_ASSIGN(jump_, Jump::start(spec_));
  return jump_.take_connection();
}

Status SshSession::handshake(const Patience& patience) {
  ORDEAL_TRY_ASSIGN(UniqueFd fd, reach(patience));
  const socket_t raw = fd.get();
  ssh_options_set(session_, SSH_OPTIONS_FD, &raw);
  fd.release();  // closed by libssh from here on
  int result = SSH_AGAIN;
  while ((result = ssh_connect(session_)) == SSH_AGAIN) {
    if (auto waited = wait(patience); !waited) {
      if (waited.error().kind == ErrorKind::stopped) return waited;
      return surroundings_error("{}: the SSH handshake failed: {}{}", describe(spec_),
                                waited.error().message, jump_.complaint());
    }
  }
  return result == SSH_OK ? Status{} : lost("the SSH handshake");
}

Status SshSession::check_host_key() {
  const std::string file =
      spec_.known_hosts.empty() ? "~/.ssh/known_hosts" : spec_.known_hosts.string();
  switch (ssh_session_is_known_server(session_)) {
    case SSH_KNOWN_HOSTS_OK:
      return {};
    case SSH_KNOWN_HOSTS_CHANGED:
    case SSH_KNOWN_HOSTS_OTHER:
      return surroundings_error(
          "{}: the host key has changed: the host presents {}, which is not the key in {}; if the "
          "host "
          "was set up anew, remove the old key by `ssh-keygen -R {} -f {}` and add the new one, "
          "otherwise somebody may be in between",
          describe(spec_), fingerprint(session_), file, spec_.name, file);
    default:
      return surroundings_error(
          "{}: the host key is not known: the host presents {}, and {} has no key of `{}`; compare "
          "the fingerprint, then add the key there",
          describe(spec_), fingerprint(session_), file, spec_.name);
  }
}

Status SshSession::login(const Patience& patience) {
  auto result = spec_.identity.empty() ? login_by_agent(patience) : login_by_key(patience);
  if (result || result.error().kind == ErrorKind::stopped) return result;
  return surroundings_error("{}: login failed: {}", describe(spec_), result.error().message);
}

Status SshSession::login_by_key(const Patience& patience) {
  ssh_key raw = nullptr;
  if (ssh_pki_import_privkey_file(spec_.identity.c_str(), nullptr, nullptr, nullptr, &raw) !=
      SSH_OK) {
    return surroundings_error(
        "the key file cannot be read as a private key without passphrase; name another one, or "
        "load it "
        "into the agent and name none");
  }
  const Key key(raw);
  int result = SSH_AUTH_AGAIN;
  while ((result = ssh_userauth_publickey(session_, nullptr, raw)) == SSH_AUTH_AGAIN) {
    ORDEAL_TRY(wait(patience));
  }
  if (result == SSH_AUTH_SUCCESS) return {};
  if (result == SSH_AUTH_ERROR) return surroundings_error("{}", ssh_get_error(session_));
  return surroundings_error(
      "the host does not accept this key for this user; add its public half to "
      "the user's authorized_keys there");
}

// The agent's keys and then the default key files, as ssh itself tries them.
Status SshSession::login_by_agent(const Patience& patience) {
  int result = SSH_AUTH_AGAIN;
  while ((result = ssh_userauth_publickey_auto(session_, nullptr, "")) == SSH_AUTH_AGAIN) {
    ORDEAL_TRY(wait(patience));
  }
  if (result == SSH_AUTH_SUCCESS) return {};
  if (result == SSH_AUTH_ERROR) return surroundings_error("{}", ssh_get_error(session_));
  return surroundings_error(
      "the host accepts no key of the agent (SSH_AUTH_SOCK) and no default key");
}

Status SshSession::wait(const Patience& patience) const {
  if (patience.stop.stop_requested()) return stopped();
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(patience.deadline - Clock::now()).count();
  if (left <= 0) return surroundings_error("no answer in time");
  const bool writing = (ssh_get_poll_flags(session_) & SSH_WRITE_PENDING) != 0;
  pollfd waiting{ssh_get_fd(session_), static_cast<short>(writing ? POLLIN | POLLOUT : POLLIN), 0};
  poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left, kPollSlice_ms)));
  return {};
}

Status SshSession::lost(std::string_view step) const {
  return surroundings_error("{}: {} failed: {}{}", describe(spec_), step, ssh_get_error(session_),
                            jump_.complaint());
}

bool SshSession::alive() const {
  if (ssh_is_connected(session_) == 0) return false;
  char byte = 0;
  const ssize_t count = recv(ssh_get_fd(session_), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}

}  // namespace ordeal
