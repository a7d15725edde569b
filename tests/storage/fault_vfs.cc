#include "tests/storage/fault_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>

#include "src/core/check.h"

namespace vernier::testing {

struct FaultVfs::State {
  sqlite3_vfs vfs{};
  sqlite3_vfs* base = nullptr;
  std::atomic<std::int64_t> operations = 0;
  std::atomic<std::int64_t> fail_at = 0;  // 0: never.
  std::atomic<bool> for_good = false;
  std::atomic<bool> failed = false;
  std::atomic<bool> recording = false;
  Fault fault = Fault::kIoError;

  std::mutex mu;
  std::map<std::string, std::string> synced;  // What is durable of each file, by its path.

  // Counts an operation; true if it is to fail.
  bool Meet() {
    const std::int64_t n = ++operations;
    const std::int64_t at = fail_at;
    if (at == 0 || n < at || (n > at && !for_good)) return false;
    failed = true;
    return true;
  }
};

namespace {

// An open file: SQLite's structure first, then ours, then the system's file right behind.
struct FaultFile {
  sqlite3_file head;
  FaultVfs::State* state;
  sqlite3_file* base;
  char path[512];
};

FaultFile* Self(sqlite3_file* file) { return reinterpret_cast<FaultFile*>(file); }
sqlite3_file* Base(sqlite3_file* file) { return Self(file)->base; }

std::string ReadWhole(sqlite3_file* base) {
  sqlite3_int64 size = 0;
  base->pMethods->xFileSize(base, &size);
  std::string content(static_cast<std::size_t>(size), '\0');
  if (size > 0) base->pMethods->xRead(base, content.data(), static_cast<int>(size), 0);
  return content;
}

int Close(sqlite3_file* file) {
  return Base(file)->pMethods == nullptr ? SQLITE_OK : Base(file)->pMethods->xClose(Base(file));
}
int Read(sqlite3_file* file, void* to, int amount, sqlite3_int64 offset) {
  return Base(file)->pMethods->xRead(Base(file), to, amount, offset);
}
int Write(sqlite3_file* file, const void* from, int amount, sqlite3_int64 offset) {
  if (Self(file)->state->Meet()) {
    const bool full = Self(file)->state->fault == FaultVfs::Fault::kDiskFull;
    // Half of it gets there, as disks do.
    Base(file)->pMethods->xWrite(Base(file), from, amount / 2, offset);
    return full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  }
  return Base(file)->pMethods->xWrite(Base(file), from, amount, offset);
}
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (Self(file)->state->Meet()) return SQLITE_IOERR_TRUNCATE;
  return Base(file)->pMethods->xTruncate(Base(file), size);
}
int Sync(sqlite3_file* file, int) {
  FaultVfs::State& state = *Self(file)->state;
  if (state.Meet()) return SQLITE_IOERR_FSYNC;
  if (state.recording) {
    const std::lock_guard<std::mutex> lock(state.mu);
    state.synced[Self(file)->path] = ReadWhole(Base(file));
  }
  return SQLITE_OK;  // This process will not lose power; the time is better spent on more faults.
}
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Base(file)->pMethods->xFileSize(Base(file), size);
}
int Lock(sqlite3_file* file, int level) { return Base(file)->pMethods->xLock(Base(file), level); }
int Unlock(sqlite3_file* file, int level) {
  return Base(file)->pMethods->xUnlock(Base(file), level);
}
int CheckReservedLock(sqlite3_file* file, int* reserved) {
  return Base(file)->pMethods->xCheckReservedLock(Base(file), reserved);
}
int FileControl(sqlite3_file* file, int operation, void* argument) {
  return Base(file)->pMethods->xFileControl(Base(file), operation, argument);
}
int SectorSize(sqlite3_file* file) { return Base(file)->pMethods->xSectorSize(Base(file)); }
int DeviceCharacteristics(sqlite3_file* file) {
  return Base(file)->pMethods->xDeviceCharacteristics(Base(file));
}
int ShmMap(sqlite3_file* file, int page, int size, int extend, void volatile** to) {
  return Base(file)->pMethods->xShmMap(Base(file), page, size, extend, to);
}
int ShmLock(sqlite3_file* file, int offset, int n, int flags) {
  return Base(file)->pMethods->xShmLock(Base(file), offset, n, flags);
}
void ShmBarrier(sqlite3_file* file) { Base(file)->pMethods->xShmBarrier(Base(file)); }
int ShmUnmap(sqlite3_file* file, int remove) {
  return Base(file)->pMethods->xShmUnmap(Base(file), remove);
}

// Version 2: shared memory for the write-ahead log, no memory-mapped reads.
const sqlite3_io_methods kMethods = {.iVersion = 2,
                                     .xClose = Close,
                                     .xRead = Read,
                                     .xWrite = Write,
                                     .xTruncate = Truncate,
                                     .xSync = Sync,
                                     .xFileSize = FileSize,
                                     .xLock = Lock,
                                     .xUnlock = Unlock,
                                     .xCheckReservedLock = CheckReservedLock,
                                     .xFileControl = FileControl,
                                     .xSectorSize = SectorSize,
                                     .xDeviceCharacteristics = DeviceCharacteristics,
                                     .xShmMap = ShmMap,
                                     .xShmLock = ShmLock,
                                     .xShmBarrier = ShmBarrier,
                                     .xShmUnmap = ShmUnmap,
                                     .xFetch = nullptr,
                                     .xUnfetch = nullptr};

int OpenFile(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* const state = static_cast<FaultVfs::State*>(vfs->pAppData);
  FaultFile* const self = Self(file);
  std::memset(self, 0, sizeof(FaultFile));
  self->state = state;
  self->base = reinterpret_cast<sqlite3_file*>(self + 1);
  if (name != nullptr) std::strncpy(self->path, name, sizeof(self->path) - 1);
  const int code = state->base->xOpen(state->base, name, self->base, flags, out_flags);
  if (self->base->pMethods != nullptr) self->head.pMethods = &kMethods;
  return code;
}

int DeleteFile(sqlite3_vfs* vfs, const char* name, int sync_directory) {
  auto* const state = static_cast<FaultVfs::State*>(vfs->pAppData);
  if (state->recording) {
    const std::lock_guard<std::mutex> lock(state->mu);
    state->synced.erase(name);
  }
  return state->base->xDelete(state->base, name, sync_directory);
}

}  // namespace

FaultVfs::FaultVfs() : state_(new State) {
  static std::atomic<int> count = 0;
  name_ = "fault-" + std::to_string(++count);
  state_->base = sqlite3_vfs_find(nullptr);
  state_->vfs = *state_->base;
  state_->vfs.zName = name_.c_str();
  state_->vfs.pNext = nullptr;
  state_->vfs.szOsFile = static_cast<int>(sizeof(FaultFile)) + state_->base->szOsFile;
  state_->vfs.pAppData = state_;
  state_->vfs.xOpen = OpenFile;
  state_->vfs.xDelete = DeleteFile;
  // The system's other methods look at their own pAppData.
  state_->vfs.xAccess = [](sqlite3_vfs* vfs, const char* name, int flags, int* result) {
    sqlite3_vfs* const base = static_cast<State*>(vfs->pAppData)->base;
    return base->xAccess(base, name, flags, result);
  };
  state_->vfs.xFullPathname = [](sqlite3_vfs* vfs, const char* name, int size, char* out) {
    sqlite3_vfs* const base = static_cast<State*>(vfs->pAppData)->base;
    return base->xFullPathname(base, name, size, out);
  };
  VERNIER_CHECK(sqlite3_vfs_register(&state_->vfs, 0) == SQLITE_OK, "a VFS registers");
}

FaultVfs::~FaultVfs() {
  sqlite3_vfs_unregister(&state_->vfs);
  delete state_;
}

void FaultVfs::FailAt(std::int64_t n, Fault fault, bool for_good) {
  state_->operations = 0;
  state_->failed = false;
  state_->fault = fault;
  state_->for_good = for_good;
  state_->fail_at = n;
}

void FaultVfs::Off() { state_->fail_at = 0; }

std::int64_t FaultVfs::operations() const { return state_->operations; }

bool FaultVfs::failed() const { return state_->failed; }

void FaultVfs::RecordSyncs() { state_->recording = true; }

void FaultVfs::CopyAsAfterPowerLoss(const std::string& from, const std::string& to) const {
  const std::lock_guard<std::mutex> lock(state_->mu);
  for (const std::string suffix : {"", "-wal", "-journal"}) {
    const auto content = state_->synced.find(from + suffix);
    if (content == state_->synced.end()) continue;
    std::ofstream(to + suffix, std::ios::binary) << content->second;
  }
}

}  // namespace vernier::testing
