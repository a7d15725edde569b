#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/optimizer.h"
#include "vernier/storage.h"

namespace vernier {

// Which points of a trial's curve to read. The default is all of them.
struct CurveQuery {
  // Only measurements that have this metric. Empty: all measurements.
  std::string metric;
  // Largest number of points to choose, 4 or more: the first, the last, and in each of equal parts between them the
  // lowest and the highest value of the metric (of the first objective if no metric is given). 0: choose all.
  std::size_t max_points = 0;
  // Number of chosen points to skip.
  std::size_t offset = 0;
  // Largest number of chosen points to return. 0: no limit.
  std::size_t limit = 0;
};

// The answer to a CurveQuery.
struct CurvePart {
  std::vector<Measurement> measurements;  // In the order in which they were stored.
  std::size_t chosen = 0;                 // Number of points chosen by max_points.
  std::size_t total = 0;                  // Number of points of the curve.
};

// A study that cannot be read, since its rows or events are damaged in the store.
struct DamagedStudy {
  StudyId id;
  std::string name;
  absl::Status error;  // DataLoss (kDataLoss).
  absl::Time since;    // Time of the first failed read.
};

// Read access to studies and trials. One part of Studies (studies.h).
//
//   const absl::StatusOr<Study> study = reader.FindStudy("digits");
//   if (!study.ok()) return study.status();
//   if (study->best.has_value()) {
//     const absl::StatusOr<Trial> best = reader.GetTrial({study->id, *study->best});
//   }
//
// Thread-safe. Changes nothing. Calls may block to read the store. Results are copies unless they are shared pointers
// to const. Errors of every call: NotFound (kStudyNotFound, kTrialNotFound); DataLoss (kDataLoss): the study is damaged
// in the store.
class StudyReader {
 public:
  virtual ~StudyReader() = default;

  // --- studies ---
  virtual absl::StatusOr<Study> GetStudy(StudyId id) const = 0;
  virtual absl::StatusOr<Study> FindStudy(std::string_view name) const = 0;
  // Returns the id of the study with this name. Cheaper than FindStudy.
  virtual absl::StatusOr<StudyId> FindStudyId(std::string_view name) const = 0;
  // Returns the current definition without copying it. Shared with the study; an amendment replaces it and leaves the
  // returned one as it is.
  virtual absl::StatusOr<std::shared_ptr<const StudySpec>> GetDefinition(StudyId id) const = 0;
  // Returns a definition with the job and the metrics that an attempt was started with. `defined_by`:
  // Attempt::defined_by.
  virtual absl::StatusOr<std::shared_ptr<const StudySpec>> GetDefinition(
      StudyId id, EventSeq defined_by) const = 0;
  // Returns all studies in the order of ids, except those whose row is damaged (see DamagedStudies).
  virtual absl::StatusOr<std::vector<Study>> ListStudies() const = 0;
  // Calls `visit` with each study whose id is above `after`, in the order of ids, until it returns false. Holds one
  // study in memory at a time. Leaves out studies whose row is damaged.
  virtual absl::Status ScanStudies(StudyId after,
                                   const std::function<bool(Study)>& visit) const = 0;
  // The studies that Tick, ListStudies and ScanStudies could not read, in the order of ids. Other studies are not
  // affected.
  virtual std::vector<DamagedStudy> DamagedStudies() const = 0;

  // --- trials ---
  virtual absl::StatusOr<Trial> GetTrial(TrialId id) const = 0;
  // Returns all trials in the order of numbers. Deleted trials are left out in this class, unless
  // TrialScan::deleted is set.
  virtual absl::StatusOr<std::vector<Trial>> ListTrials(StudyId id) const = 0;
  // Calls `visit` with each trial of the scan, in its order, until it returns false. All are read from the store as of
  // one moment during the call. Holds no lock, and one trial in memory at a time. `visit` must not call this object.
  virtual absl::Status ScanTrials(StudyId id,
                                  const TrialScan& scan,
                                  const std::function<bool(Trial)>& visit) const = 0;
  // Returns all measurements, oldest first.
  virtual absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId id) const = 0;
  // Returns a part of the curve, or a thinned-out curve. Only the returned measurements are read in full.
  // InvalidArgument: max_points is 1, 2 or 3.
  virtual absl::StatusOr<CurvePart> ReadCurve(TrialId id, const CurveQuery& query) const = 0;
  // Returns the prediction of the algorithm's model at each of `points` (Optimizer::Predict), from the trials that have
  // ended. A whole number may be given as either an integer or a double. May take as long as a suggestion.
  // FailedPrecondition: the algorithm has no model, or too few trials.  InvalidArgument: a point is outside the space.
  // Cancelled: `stop` fired.
  virtual absl::StatusOr<std::vector<PredictedPoint>> Predict(
      StudyId id, std::vector<Point> points, const std::stop_token& stop) const = 0;
};

}  // namespace vernier
