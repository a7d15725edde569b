#pragma once

#include <span>
#include <string_view>

namespace vernier::sqlite {

// The texts of migrations/NNNN_*.sql in their order. The n-th brings a store from schema n - 1 to schema n.
std::span<const std::string_view> Migrations();

}  // namespace vernier::sqlite
