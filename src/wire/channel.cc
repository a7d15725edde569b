#include "src/wire/channel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "grpc/grpc.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/client_interceptor.h"

namespace vernier::wire {
namespace {

namespace experimental = grpc::experimental;

// Adds the token to every call. gRPC's own credentials of calls cannot do this: it allows them on encrypted channels
// only.
class TokenInterceptor final : public experimental::Interceptor {
 public:
  explicit TokenInterceptor(const std::string& value) : value_(value) {}

  void Intercept(experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            experimental::InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      // HTTP/2 has names in lower case only.
      methods->GetSendInitialMetadata()->emplace("authorization", value_);
    }
    methods->Proceed();
  }

 private:
  const std::string& value_;  // The factory's, which outlives its calls.
};

class TokenInterceptors final : public experimental::ClientInterceptorFactoryInterface {
 public:
  explicit TokenInterceptors(const std::string& token) : value_("Bearer " + token) {}
  experimental::Interceptor* CreateClientInterceptor(experimental::ClientRpcInfo*) override {
    // gRPC owns it, and deletes it after the call.
    return new TokenInterceptor(value_);
  }

 private:
  const std::string value_;
};

}  // namespace

void KeepGrpc() {
  // Static, so that many threads that open channels count as one user of gRPC.
  [[maybe_unused]] static const bool is_kept = [] {
    grpc_init();  // Never followed by grpc_shutdown.
    return true;
  }();
}

std::shared_ptr<grpc::Channel> OpenChannel(const std::string& target,
                                           const std::string& token,
                                           const grpc::ChannelArguments& arguments) {
  KeepGrpc();
  const auto credentials = grpc::InsecureChannelCredentials();
  // gRPC ends the program for a header that it cannot send. Without a token there is nothing to intercept, which saves work in
  // every call.
  const bool is_sent = !token.empty() && std::ranges::all_of(token, absl::ascii_isgraph);
  if (!is_sent) return grpc::CreateCustomChannel(target, credentials, arguments);
  std::vector<std::unique_ptr<experimental::ClientInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(std::make_unique<TokenInterceptors>(token));
  return experimental::CreateCustomChannelWithInterceptors(
      target, credentials, arguments, std::move(interceptors));
}

}  // namespace vernier::wire
