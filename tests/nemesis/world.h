// What the tests of faults break for real: a small server in a network namespace, and a client in
// another one. Without root both are plain processes on the loopback device, and faults that need a
// packet filter cannot be done. Everything is gone once the World is.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "nemesis/engine.h"
#include "nemesis/nemesis.h"
#include "tests/nemesis/fault_kinds.h"

namespace ordeal {

class World {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Cluster& cluster() { return *cluster_; }
  Host& host() { return *cluster_->hosts().front(); }
  Terrain terrain() const;
  Battlefield battlefield() const;
  const std::filesystem::path& directory() const { return directory_; }
  // On a small file system of its own, with root.
  std::filesystem::path server_directory() const { return directory_ / "server"; }
  std::filesystem::path journal() const { return directory_ / kJournalFile; }

  // How far the server's clock is ahead of ours, as a client reads it within a second; nullopt when
  // it does not answer.
  std::optional<double> ask(int port) const;
  std::optional<double> ask() const { return ask(port_); }
  // Served, with the right clock.
  bool healthy() const;
  bool becomes_healthy(std::chrono::milliseconds within = std::chrono::seconds(10)) const;
  int port() const { return port_; }
  int other_port() const { return port_ + 1; }  // answered by the same server; stands for SSH

  std::string firewall() const;  // all rules and queueing disciplines of the host
  // Asks once, and tells how many packets the host's filter dropped on the way to the server and
  // from it.
  std::pair<int, int> packets_dropped_of_one_request() const;
  bool watchdog_left() const;
  bool watchdog_ends(std::chrono::milliseconds within = std::chrono::seconds(10)) const;

  // For the faults of the catalogue whose need the host meets; warns about the others.
  bool can(const FaultEntry& entry) const;
  // One drawn fault on the host, surely visible to ask().
  Fault draw(const FaultEntry& entry) const;
  FaultPlan plan(const FaultEntry& entry) const;

 private:
  ServerControl control() const;
  void set_up();
  void tear_down();
  void make_namespaces();
  void write_server() const;

  const bool namespaces_;
  std::filesystem::path directory_;
  std::string run_id_;  // also names the namespaces
  std::string client_ = "127.0.0.1";
  std::string address_ = "127.0.0.1";
  int port_ = 0;
  std::unique_ptr<Cluster> cluster_;
};

}  // namespace ordeal
