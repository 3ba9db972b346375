// Payloads other than transactions as EDN: both directions.
#pragma once

#include <string>
#include <string_view>

#include "history/operation.h"

namespace ordeal {

// `edn` is one well-formed form. With :f :transfer, {:from a, :to b, :amount n} is a Transfer; with
// :f :read, nil and a map of account to integer are Balances; {:fault "...", :action :inject, ...}
// is a FaultEvent.
Payload edn_payload(std::string_view function, std::string_view edn);

// Any payload, transactions too.
std::string payload_edn(const Payload& payload);

}  // namespace ordeal
