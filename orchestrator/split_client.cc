#include "orchestrator/split_client.h"

#include <algorithm>
#include <utility>

namespace ordeal {
namespace {

bool only_reads(const Payload& payload) {
  if (std::holds_alternative<Balances>(payload)) return true;
  const auto* txn = std::get_if<Txn>(&payload);
  return txn != nullptr &&
         std::all_of(txn->micro_ops.begin(), txn->micro_ops.end(),
                     [](const MicroOp& op) { return op.function == MicroFunction::read; });
}

class SplitClient : public Client {
 public:
  SplitClient(std::unique_ptr<Client> writing, Connect reading)
      : writing_(std::move(writing)), connect_(std::move(reading)) {}

  Status setup(std::stop_token stop) override { return writing_->setup(std::move(stop)); }
  bool connected() const override { return writing_->connected(); }

  Outcome invoke(const Payload& payload, std::stop_token stop) override {
    if (!only_reads(payload)) return writing_->invoke(payload, std::move(stop));
    if (!reading_ || !reading_->connected()) {
      auto connected = connect_(stop);
      if (!connected) return Fail{connected.error().message};
      reading_ = *std::move(connected);
    }
    return reading_->invoke(payload, std::move(stop));
  }

 private:
  std::unique_ptr<Client> writing_;
  Connect connect_;
  std::unique_ptr<Client> reading_;
};

}  // namespace

std::unique_ptr<Client> split_client(std::unique_ptr<Client> writing, Connect reading) {
  return std::make_unique<SplitClient>(std::move(writing), std::move(reading));
}

}  // namespace ordeal
