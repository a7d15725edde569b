// What ThreadSanitizer must not report: gRPC is built without it, so that what gRPC's threads do among themselves, and
// memory that they hand over, looks like races.

extern "C" {

// By default, ThreadSanitizer sleeps for a second before each program ends that has threads left, as gRPC's always are.
const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1:atexit_sleep_ms=0";
}

// Inline code of gRPC that is compiled with ours: bytes and messages between a call's buffers, its operations, the end of a
// call that is answered by a callback.
const char* __tsan_default_suppressions() {
  return "race:grpc::SerializationTraits\n"
         "race:grpc::internal::UnaryDeserializeHelper\n"
         "race:grpc::internal::CallbackWithSuccessTag\n"
         "race:grpc::internal::CallOp\n"
         "race:grpc::internal::InterceptorBatchMethodsImpl\n"
         "race:*ServerCallbackUnaryImpl\n"
         "race:*ServerCallbackWriterImpl\n";
}

}  // extern "C"
