// Campaigns of several systems: how they are read, and how they act as one.
#include "orchestrator/systems.h"

#include "orchestrator/split_client.h"
#include "remote/fake_host.h"
#include "tests/orchestrator/campaign_text.h"

using namespace ordeal;

namespace {

using Names = std::vector<std::string>;

constexpr const char* kTwo = R"(hosts: {lab: local, names: [n1, n2, n3]}
systems:
  replica: {postgres: {}, hosts: [n3], upstream: db}
  db: {postgres: {standbys: n2}, hosts: [n1, n2]}
workload: {list-append: }
clients: {system: db, reads: replica}
)";

Cluster three_hosts() {
  std::vector<std::unique_ptr<Host>> hosts;
  for (const char* name : {"n1", "n2", "n3"}) {
    HostSpec spec;
    spec.name = name;
    spec.address = fmt::format("10.0.0.{}", name + 1);
    hosts.push_back(std::make_unique<FakeHost>(spec));
  }
  return Cluster(std::move(hosts));
}

std::string error_with(const std::string& from, const std::string& to) {
  return error_of(replaced(kTwo, from, to));
}

class Counting : public Client {
 public:
  explicit Counting(int& invoked, bool& connected) : invoked_(invoked), connected_(connected) {}
  Status setup(std::stop_token) override { return {}; }
  Outcome invoke(const Payload& payload, std::stop_token) override {
    ++invoked_;
    return Ok{payload};
  }
  bool connected() const override { return connected_; }

 private:
  int& invoked_;
  bool& connected_;
};

}  // namespace

TEST_CASE("systems come after those that they need, each with its own hosts") {
  const auto campaign = load(kTwo);
  REQUIRE(campaign);
  REQUIRE(campaign->systems.size() == 2);
  CHECK(campaign->systems[0].name == "db");
  CHECK(campaign->systems[0].hosts == Names{"n1", "n2"});
  CHECK(campaign->systems[1].upstream == "db");
  CHECK(campaign->clients.system == "db");
  CHECK(campaign->clients.reads == "replica");
  CHECK(load(replaced(kTwo, "clients: {system: db, reads: replica}", ""))->clients.system == "db");
}

TEST_CASE("the group of an inventory that is called as a system has its hosts") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() / "hosts.ini")
      << "[db]\nn[1:2] ansible_host=127.0.0.2\n[replica]\nn3 ansible_host=127.0.0.3\n";
  std::string text =
      replaced(kTwo, "{lab: local, names: [n1, n2, n3]}",
               fmt::format("{{inventory: {}/hosts.ini}}", directory.path().string()));
  text = replaced(replaced(text, ", hosts: [n3]", ""), "hosts: [n1, n2]", "hosts: db");
  const auto campaign = load(text);
  REQUIRE(campaign);
  CHECK(campaign->systems[0].hosts == Names{"n1", "n2"});
  CHECK(campaign->systems[1].hosts == Names{"n3"});
}

TEST_CASE("what is wrong with systems is told with its place") {
  CHECK(error_with("systems:", "target: {postgres: }\nsystems:") ==
        "c.yaml:4:3: give either `target` or `systems`");
  CHECK(error_with("hosts: [n3]", "hosts: [n2]") ==
        "c.yaml:4:3: system db: host n2 is of replica; expected hosts that no other system has");
  CHECK(error_with("hosts: [n3]", "hosts: [n3, n3]").find("is named twice") != std::string::npos);
  CHECK(error_with("hosts: [n3]", "hosts: [n4]").find("unknown host \"n4\"") != std::string::npos);
  CHECK(error_with(", hosts: [n3]", "") ==
        "c.yaml:3:3: system replica: expected a target and hosts, e.g. `replica: {postgres: {}, "
        "hosts: [n1]}`");
  CHECK(error_with("postgres: {}, hosts", "hosts").find("expected a target and hosts") !=
        std::string::npos);
  CHECK(error_with("{postgres: {}, hosts: [n3]", "{postgres: {}, postgrs: {}, hosts: [n3]")
            .find("expected one target, not postgres and postgrs") != std::string::npos);
  CHECK(error_with("{postgres: {}, hosts: [n3]", "{postgrs: {}, hosts: [n3]")
            .find("did you mean \"postgres\"") != std::string::npos);
  CHECK(error_with("standbys: n2", "standbys: n3").find("unknown host \"n3\"") !=
        std::string::npos);
  CHECK(error_with("upstream: db", "upstream: bd") ==
        "c.yaml:3:13: system replica: unknown system \"bd\"; did you mean \"db\"?");
  CHECK(error_with("hosts: [n1, n2]", "hosts: [n1, n2], after: replica")
            .find("wait for each other by `after` or `upstream`") != std::string::npos);
  CHECK(error_with("reads: replica", "reads: replcia") ==
        "c.yaml:6:23: clients: reads: unknown system \"replcia\"; did you mean \"replica\"?");
  CHECK(error_with("  db:", "  D:").find("expected lower-case letters") != std::string::npos);
  CHECK(error_of("systems: {}\nworkload: {bank: }\n").find("systems: expected a map") !=
        std::string::npos);
}

TEST_CASE("systems act as one target, with names for roles and legs") {
  const auto campaign = load(kTwo);
  REQUIRE(campaign);
  const Cluster cluster = three_hosts();
  const auto systems = Systems::make(*campaign, cluster);
  REQUIRE(systems);
  const Systems& all = **systems;
  CHECK(all.start_order() == std::vector<Names>{{"n1", "n2"}, {"n3"}});
  CHECK(all.text() == "db (postgres), replica (postgres)");
  CHECK(all.role("n1") == "db.primary");
  CHECK(all.role("n3") == "replica");
  Names legs;
  for (const Leg& leg : all.legs()) legs.push_back(leg.name);
  CHECK(legs ==
        Names{"db.client-db", "db.replication", "replica.client-db", "replica.subscription"});
  const Leg last = all.legs().back();
  CHECK(last.paths.front().from == "n3");
  CHECK(last.paths.front().address == "10.0.0.1");
  CHECK(all.control(*cluster.find("n2")).port == 5432);
  CHECK(all.provisioned().at("postgres") ==
        ProvisionedSystem{{"n1", "15"}, {"n2", "15"}, {"n3", "15"}});
}

TEST_CASE("a single target has neither prefixes nor systems") {
  const auto campaign = load(kGood);
  REQUIRE(campaign);
  const Cluster cluster = three_hosts();
  const auto systems = Systems::make(*campaign, cluster);
  REQUIRE(systems);
  CHECK((*systems)->text() == "postgres");
  CHECK((*systems)->role("n1") == "db");
  CHECK((*systems)->legs().front().name == "client-db");
}

TEST_CASE("a split client reads from one system and writes to another") {
  int written = 0;
  int read = 0;
  int connections = 0;
  bool connected = true;
  bool refuses = false;
  const auto client = split_client(std::make_unique<Counting>(written, connected),
                                   [&](std::stop_token) -> Result<std::unique_ptr<Client>> {
                                     ++connections;
                                     if (refuses) return surroundings_error("refused");
                                     return std::make_unique<Counting>(read, connected);
                                   });
  const MicroOp reads{MicroFunction::read, Value(1), {}, {}};
  const MicroOp appends{MicroFunction::append, Value(1), Value(2), {}};
  CHECK(std::holds_alternative<Ok>(client->invoke(Txn{{reads, appends}}, {})));
  CHECK(connections == 0);
  CHECK(std::holds_alternative<Ok>(client->invoke(Txn{{reads, reads}}, {})));
  CHECK(std::holds_alternative<Ok>(client->invoke(Balances{}, {})));
  CHECK(std::pair(written, read) == std::pair(1, 2));
  CHECK(connections == 1);
  connected = false;  // the next read connects anew
  refuses = true;
  CHECK(std::get<Fail>(client->invoke(Txn{{reads}}, {})).note == "refused");
  CHECK(std::pair(read, connections) == std::pair(2, 2));
}
