// Transactions of the clients on a real member of etcd.
#include <catch2/catch.hpp>
#include <thread>

#include "tests/targets/etcd_cluster.h"

namespace ordeal {
namespace {

TEST_CASE("etcd clients: registers are read, written, and compared and set") {
  EtcdCluster cluster(1);
  cluster.up();
  const auto client = cluster.client();
  REQUIRE(client->setup({}));
  CHECK(invoke(*client, {read_op(1), read_op(2)}) == "ok nil nil");
  CHECK(invoke(*client, {write_op(1, 5), write_op(2, 6), write_op(2, 7)}) == "ok");
  CHECK(invoke(*client, {read_op(1), read_op(2)}) == "ok 5 7");
  CHECK(invoke(*client, {read_op(1), write_op(1, 8)}) == "ok 5");
  // It sees its own writes, and not those of others between them.
  CHECK(invoke(*client, {write_op(1, 9), read_op(1), read_op(2)}) == "ok 9 7");
  CHECK(invoke(*client, {write_op(-3, -4), read_op(-3)}) == "ok -4");
  REQUIRE(client->setup({}));
  CHECK(invoke(*client, {read_op(1)}) == "ok nil");
  CHECK(invoke(*client, {append_op(1, 2)}) ==
        "fail etcd takes transactions of whole numbers with r and w only");
  CHECK(std::holds_alternative<Fail>(client->invoke(Balances{}, {})));
}

TEST_CASE("etcd clients: lists grow, and are read whole") {
  EtcdCluster cluster(1, {}, "list-append");
  cluster.up();
  const auto client = cluster.client();
  CHECK(invoke(*client, {read_op(1), append_op(1, 1), read_op(1)}) == "ok [] [1]");
  CHECK(invoke(*client, {append_op(1, 2), append_op(1, 3), append_op(2, 1)}) == "ok");
  CHECK(invoke(*cluster.client(), {read_op(1), read_op(2)}) == "ok [1,2,3] [1]");
  CHECK(invoke(*client, {write_op(1, 2)}) ==
        "fail etcd takes transactions of whole numbers with r and append only");
}

// Meets what the other one does between its own reading and writing.
int conflicts(Client& one, Client& other, const std::vector<MicroOp>& micro_ops, int rounds) {
  int count = 0;
  std::jthread rival([&](std::stop_token stop) {
    while (!stop.stop_requested()) invoke(other, {write_op(1, 1)});
  });
  for (int i = 0; i < rounds; ++i) {
    const std::string outcome = invoke(one, micro_ops);
    if (outcome == "fail conflict: what was read has changed since") ++count;
  }
  return count;
}

TEST_CASE(
    "etcd clients: what was read and has changed since is a conflict, and nothing is written") {
  EtcdCluster cluster(1);
  cluster.up();
  const auto one = cluster.client();
  const auto other = cluster.client();
  CHECK(conflicts(*one, *other, {read_op(1), write_op(2, 3)}, 100) > 0);
  CHECK(conflicts(*one, *other, {read_op(3), write_op(4, 5)}, 100) == 0);  // of another key
  CHECK(conflicts(*one, *other, {read_op(1)}, 100) == 0);                  // no write
  CHECK(conflicts(*one, *other, {write_op(1, 7), read_op(1)}, 100) == 0);  // its own
}

}  // namespace
}  // namespace ordeal
