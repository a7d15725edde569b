#include "src/codec/trial_text.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "src/codec/measurement_text.h"
#include "src/codec/text_scanner.h"
#include "src/codec/trial_form.h"

namespace vernier::codec {
namespace {

// Types that are read and written by their description alone, field by field.
template <typename T>
concept IsDescribed = std::is_base_of_v<DescribedForm<T>, Form<T>>;

template <typename T>
requires std::is_integral_v<T>
void Scan(Scanner& scanner, T& value) { scanner.Number(value); }

void Scan(Scanner& scanner, bool& value) {
  value = scanner.TakeIf("true");
  if (!value) scanner.Skip("false");
}

void Scan(Scanner& scanner, double& value) { value = scanner.Double(); }

void Scan(Scanner& scanner, std::string& value) { value = scanner.EscapedText(); }

void Scan(Scanner& scanner, absl::Duration& value) { value = absl::Nanoseconds(scanner.Integer()); }

void Scan(Scanner& scanner, absl::Time& value) {
  const std::optional<absl::Time> time = ReadTimeText(scanner.Text());
  if (!time.has_value()) return scanner.Fail();
  value = *time;
}

template <typename Tag>
void Scan(Scanner& scanner, Id<Tag>& value) {
  value = Id<Tag>(scanner.Integer());
}

template <typename E>
requires std::is_enum_v<E>
void Scan(Scanner& scanner, E& value) {
  const std::string_view name = scanner.Text();
  for (int i = 0; i <= static_cast<int>(LastOf(E{})); ++i) {
    value = static_cast<E>(i);
    if (name == NameOf(value)) return;
  }
  scanner.Fail();
}

// A number with a point or an exponent is a double, as it is where a document is read.
void Scan(Scanner& scanner, ParameterValue& value) {
  const char next = scanner.Peek();
  if (next == '"') {
    value = scanner.EscapedText();
  } else if (next == 't' || next == 'f') {
    Scan(scanner, value.emplace<bool>());
  } else if (scanner.NumberText().find_first_of(".eE") != std::string_view::npos) {
    value = scanner.Double();
  } else {
    value = scanner.Integer();
  }
}

// Not worth a reader of its own: rows with metadata are read as documents.
void Scan(Scanner& scanner, Metadata& /*value*/) { scanner.Fail(); }

// Declared here, since structs, lists and maps contain each other.
template <typename T>
requires IsDescribed<T>
void Scan(Scanner& scanner, T& value);
template <typename T>
void Scan(Scanner& scanner, std::optional<T>& value);
template <typename T>
void Scan(Scanner& scanner, std::vector<T>& values);

template <typename T>
void Scan(Scanner& scanner, std::map<std::string, T>& values) {
  scanner.Skip("{");
  while (scanner.ok() && !scanner.TakeIf('}')) {
    if (!values.empty()) scanner.Skip(",");
    const auto [at, is_new] = values.try_emplace(scanner.EscapedText());
    scanner.Skip(":");
    Scan(scanner, at->second);
    // After the value was read: a second one of the same name fails the whole text.
    if (!is_new) scanner.Fail();
  }
}

template <typename T>
void Scan(Scanner& scanner, std::optional<T>& value) {
  Scan(scanner, value.emplace());
}

template <typename T>
void Scan(Scanner& scanner, std::vector<T>& values) {
  scanner.Skip("[");
  while (scanner.ok() && !scanner.TakeIf(']')) {
    if (!values.empty()) scanner.Skip(",");
    Scan(scanner, values.emplace_back());
  }
}

// Fields in the order of their description; those that are left out keep their default.
class FieldScanner {
 public:
  explicit FieldScanner(Scanner& scanner) : scanner_(scanner) {}
  template <typename T>
  void operator()(std::string_view key, T& value) {
    if (!TakeKey(key)) return;
    is_first_ = false;
    Scan(scanner_, value);
  }
  template <typename T>
  void IfSet(std::string_view key, T& value) {
    (*this)(key, value);
  }

 private:
  bool TakeKey(std::string_view key) {
    // A copy is a view and a flag: looking ahead costs nothing.
    Scanner ahead = scanner_;
    // The first field that is there has no comma in front.
    if (!is_first_ && !ahead.TakeIf(',')) return false;
    if (!ahead.TakeIf('"') || !ahead.TakeIf(key) || !ahead.TakeIf(std::string_view("\":"))) {
      return false;
    }
    scanner_ = ahead;
    return true;
  }

  Scanner& scanner_;
  bool is_first_ = true;
};

template <typename T>
requires IsDescribed<T>
void Scan(Scanner& scanner, T& value) {
  scanner.Skip("{");
  FieldScanner visit(scanner);
  Describe(visit, value);
  // Meets any key that is not described or out of order, and fails.
  scanner.Skip("}");
}

}  // namespace

std::optional<Trial> ReadTrialText(std::string_view text) {
  Scanner scanner(text);
  std::optional<Trial> trial(std::in_place);
  Scan(scanner, *trial);
  if (!scanner.done()) trial.reset();
  return trial;
}

}  // namespace vernier::codec
