#include "benchmarks/service/unary_client.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/numbers.h"
#include "fmt/format.h"

namespace vernier {
namespace {

constexpr std::size_t kPrefix = 5;  // Not compressed, and the length.
constexpr int kWindow = 1 << 30;    // Flow control is of no use here.

absl::Status Broken(std::string_view what) {
  return absl::UnavailableError(fmt::format("{}: {}", what, std::strerror(errno)));
}

nghttp2_nv Header(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {.name = bytes(name),
          .value = bytes(value),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = NGHTTP2_NV_FLAG_NONE};
}

absl::StatusOr<int> ConnectTo(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return absl::InvalidArgumentError(address + " has no port");
  const std::string host = address.substr(0, colon);
  const std::string port = address.substr(colon + 1);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(fmt::format("{}: {}", address, gai_strerror(error)));
  }
  int connected = -1;
  absl::Status failed;
  for (const addrinfo* each = found; each != nullptr && connected < 0; each = each->ai_next) {
    const int candidate = socket(each->ai_family, each->ai_socktype, each->ai_protocol);
    if (candidate < 0) continue;
    if (connect(candidate, each->ai_addr, each->ai_addrlen) == 0) {
      connected = candidate;
    } else {
      failed = Broken("cannot connect to " + address);
      close(candidate);
    }
  }
  freeaddrinfo(found);
  if (connected < 0) return failed.ok() ? Broken("no socket for " + address) : failed;
  return connected;
}

}  // namespace

absl::StatusOr<std::unique_ptr<UnaryClient>> UnaryClient::Connect(const std::string& address) {
  const absl::StatusOr<int> connected = ConnectTo(address);
  if (!connected.ok()) return connected.status();
  const int no_delay = 1;
  setsockopt(*connected, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof(no_delay));
  return std::unique_ptr<UnaryClient>(new UnaryClient(*connected, address));
}

UnaryClient::UnaryClient(int socket, std::string authority)
    : socket_(socket), authority_(std::move(authority)) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks,
      +[](nghttp2_session*,
          std::uint8_t,
          std::int32_t stream,
          const std::uint8_t* data,
          std::size_t size,
          void* self) {
        auto& flights = static_cast<UnaryClient*>(self)->flights_;
        flights.at(stream)->reply.append(reinterpret_cast<const char*>(data), size);
        return 0;
      });
  nghttp2_session_callbacks_set_on_header_callback(
      callbacks,
      +[](nghttp2_session*,
          const nghttp2_frame* frame,
          const std::uint8_t* name,
          std::size_t name_size,
          const std::uint8_t* value,
          std::size_t value_size,
          std::uint8_t,
          void* self) {
        const std::string_view key(reinterpret_cast<const char*>(name), name_size);
        Flight& flight = *static_cast<UnaryClient*>(self)->flights_.at(frame->hd.stream_id);
        const std::string_view text(reinterpret_cast<const char*>(value), value_size);
        if (key == "grpc-status") flight.code = text;
        if (key == "grpc-message") flight.message = text;
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks, +[](nghttp2_session*, std::int32_t stream, std::uint32_t, void* self) {
        static_cast<UnaryClient*>(self)->End(stream);
        return 0;
      });
  nghttp2_session_client_new(&session_, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry window{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &window, 1);
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kWindow);
}

UnaryClient::~UnaryClient() {
  nghttp2_session_del(session_);
  close(socket_);
}

void UnaryClient::Call(const std::string& path,
                       const google::protobuf::MessageLite& request,
                       Answered answered) {
  auto flight = std::make_unique<Flight>();
  flight->answered = std::move(answered);
  const std::size_t size = request.ByteSizeLong();
  flight->request = {'\0',
                     static_cast<char>(size >> 24),
                     static_cast<char>(size >> 16),
                     static_cast<char>(size >> 8),
                     static_cast<char>(size)};
  request.AppendToString(&flight->request);
  const std::array headers = {Header(":method", "POST"),
                              Header(":scheme", "http"),
                              Header(":path", path),
                              Header(":authority", authority_),
                              Header("te", "trailers"),
                              Header("content-type", "application/grpc")};
  nghttp2_data_provider body{};
  body.source.ptr = flight.get();
  body.read_callback = +[](nghttp2_session*,
                           std::int32_t,
                           std::uint8_t* buffer,
                           std::size_t room,
                           std::uint32_t* flags,
                           nghttp2_data_source* source,
                           void*) {
    Flight& sending = *static_cast<Flight*>(source->ptr);
    const std::size_t part = std::min(room, sending.request.size() - sending.sent);
    std::copy_n(sending.request.data() + sending.sent, part, buffer);
    sending.sent += part;
    if (sending.sent == sending.request.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(part);
  };
  const std::int32_t stream =
      nghttp2_submit_request(session_, nullptr, headers.data(), headers.size(), &body, nullptr);
  flights_[stream] = std::move(flight);
}

absl::Status UnaryClient::Run() {
  while (!flights_.empty()) {
    absl::Status moved = Send();
    if (moved.ok()) moved = Receive();
    if (!moved.ok()) return moved;
    for (const auto& flight : std::exchange(ended_, {})) {
      const std::string_view reply = flight->reply;
      flight->answered(StatusOf(*flight), reply.substr(std::min(kPrefix, reply.size())));
    }
  }
  return absl::OkStatus();
}

absl::Status UnaryClient::CallNow(const std::string& path,
                                  const google::protobuf::MessageLite& request,
                                  google::protobuf::MessageLite& reply) {
  absl::Status status;
  Call(path, request, [&](const absl::Status& came_to, std::string_view bytes) {
    status = came_to;
    if (status.ok() && !reply.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      status = absl::DataLossError("the reply cannot be read");
    }
  });
  const absl::Status run = Run();
  return run.ok() ? status : run;
}

absl::Status UnaryClient::Send() {
  std::string out;
  const std::uint8_t* part = nullptr;
  while (const ssize_t size = nghttp2_session_mem_send(session_, &part)) {
    if (size < 0) return absl::InternalError(nghttp2_strerror(static_cast<int>(size)));
    out.append(reinterpret_cast<const char*>(part), static_cast<std::size_t>(size));
  }
  for (std::size_t sent = 0; sent < out.size();) {
    const ssize_t size = send(socket_, out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
    if (size <= 0) return Broken("cannot send");
    sent += static_cast<std::size_t>(size);
  }
  return absl::OkStatus();
}

absl::Status UnaryClient::Receive() {
  std::array<std::uint8_t, 1 << 16> buffer;
  const ssize_t size = recv(socket_, buffer.data(), buffer.size(), 0);
  if (size == 0) return absl::UnavailableError("the server closed the connection");
  if (size < 0) return Broken("cannot receive");
  const ssize_t read =
      nghttp2_session_mem_recv(session_, buffer.data(), static_cast<std::size_t>(size));
  if (read < 0) return absl::InternalError(nghttp2_strerror(static_cast<int>(read)));
  return absl::OkStatus();
}

void UnaryClient::End(std::int32_t stream) {
  const auto flight = flights_.find(stream);
  ended_.push_back(std::move(flight->second));
  flights_.erase(flight);
}

absl::Status UnaryClient::StatusOf(const Flight& flight) {
  int code = 0;
  if (!absl::SimpleAtoi(flight.code, &code)) {
    return absl::UnavailableError("the stream ended without a status");
  }
  return {static_cast<absl::StatusCode>(code), flight.message};
}

}  // namespace vernier
