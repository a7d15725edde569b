// What a program gets with the first header that it includes.
#include "vernier/ask_tell.h"

namespace vernier {

struct StudySpec;
struct TrainingJob;
struct TrainingInput;
struct Amendment;

namespace {

template <typename T>
concept IsDefined = requires {
  sizeof(T);
};

// Studies, jobs and the files of another service are for programs that keep studies.
static_assert(!IsDefined<StudySpec> && !IsDefined<TrainingJob> && !IsDefined<TrainingInput> &&
              !IsDefined<Amendment>);

}  // namespace
}  // namespace vernier
