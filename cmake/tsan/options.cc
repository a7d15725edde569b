// What ThreadSanitizer must not report: gRPC is built without it, so that what gRPC's threads do among themselves, and
// memory that they hand over, looks like races.

extern "C" {

const char* __tsan_default_options() { return "ignore_noninstrumented_modules=1"; }

// Inline code of gRPC that is compiled with ours: bytes and messages between a call's buffers, the end of a call that is
// answered by a callback.
const char* __tsan_default_suppressions() {
  return "race:grpc::SerializationTraits\n"
         "race:grpc::internal::UnaryDeserializeHelper\n"
         "race:grpc::internal::CallbackWithSuccessTag\n"
         "race:*ServerCallbackUnaryImpl\n";
}

}  // extern "C"
