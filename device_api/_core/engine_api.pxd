# What the binding uses of the C++ engine.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.map cimport map as cpp_map
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef extern from "device_api/device_api.h" nogil:
    const int MAX_RANK "DA_MAX_RANK"
    const int OUT_OF_MEMORY "DA_STATUS_OUT_OF_MEMORY"
    const int UNIMPLEMENTED "DA_STATUS_UNIMPLEMENTED"
    const int TIMEOUT "DA_STATUS_TIMEOUT"
    const int DEVICE_LOST "DA_STATUS_DEVICE_LOST"
    const int OUT_OF_RANGE "DA_STATUS_OUT_OF_RANGE"
    const int BOOL "DA_BOOL"
    const int UINT32 "DA_UINT32"

    ctypedef struct da_device:
        pass
    ctypedef struct da_event:
        pass
    ctypedef struct da_stream:
        pass
    ctypedef struct da_error_interface:
        pass
    ctypedef struct da_memory_interface:
        pass
    ctypedef struct da_kernel_interface:
        pass
    ctypedef struct da_device_interface:
        pass
    ctypedef struct da_stream_interface:
        pass
    ctypedef struct da_random_interface:
        pass
    ctypedef struct da_capture_interface:
        pass
    ctypedef struct da_host:
        pass
    ctypedef struct da_dl_device:
        int32_t type
        int32_t id
    ctypedef struct da_kernel:
        const char *op
        uint64_t dtypes[4]
        uint64_t flags
        int32_t priority
        void *supports


cdef extern from "failure.hpp" namespace "device_api" nogil:
    const int FORKED "device_api::kForked"
    const int NOT_REPLAYED "device_api::kNotReplayed"
    cppclass Failure:
        int32_t code
        string entry
        string message
        int64_t step


cdef extern from "process.hpp" namespace "device_api" nogil:
    void watch_forks()
    void close_process()
    cpp_bool is_closing "device_api::process_closing.load" ()


cdef extern from "dtype.hpp" namespace "device_api" nogil:
    struct Element:
        pass
    cpp_bool known_dtype(int64_t)
    uint32_t item_size(int32_t)
    const char *dtype_name(int32_t)
    cpp_bool is_integer(int32_t)
    cpp_bool is_signed_integer(int32_t)
    cpp_bool is_floating(int32_t)
    cpp_bool is_complex(int32_t)
    Element encode_real(int32_t, double)
    Element encode_complex(int32_t, double, double)
    cpp_bool encode_signed(int32_t, int64_t, Element *)
    cpp_bool encode_unsigned(int32_t, uint64_t, Element *)


cdef extern from "layout.hpp" namespace "device_api" nogil:
    struct Layout:
        int32_t dtype
        int32_t rank
        int64_t elements
        int64_t lowest
        int64_t highest
        cpp_bool contiguous
        cpp_bool self_overlapping
        int64_t *shape
        int64_t *strides
        uint64_t bytes()
    cppclass LayoutRef:
        LayoutRef()
        LayoutRef(const LayoutRef &)
        Layout *get()
    enum LayoutProblem "device_api::LayoutProblem":
        PROBLEM_NONE "device_api::LayoutProblem::none"
        PROBLEM_RANK "device_api::LayoutProblem::rank"
        PROBLEM_NEGATIVE "device_api::LayoutProblem::negative"
        PROBLEM_OVERFLOW "device_api::LayoutProblem::overflow"
    LayoutProblem intern_layout(int32_t, int32_t, const int64_t *, const int64_t *, LayoutRef *) except +


cdef extern from "stream.hpp" namespace "device_api" nogil:
    cppclass Stream:
        EngineDevice *device
        int32_t priority
        uint32_t number
        cpp_bool idle
        cpp_bool reserved
        cpp_bool capturing
        cpp_bool ended
        da_stream *handle
        void *native
        uint32_t entered
        uint64_t latest(uint64_t)
        vector[Stream *] take_readers()
        uint64_t begin()
        void end()
        uint64_t sequence()
        cpp_bool settled(uint64_t)
        cpp_bool suspicious()
        Failure *failure_of(uint64_t) except +
        void lock()
        cpp_bool lock_for(uint64_t)
        void unlock()
        uint64_t wait_target()
        Failure *wait() except +
        Failure *wait_for(uint64_t) except +
        void settle(uint64_t, const Failure *) except +
        cpp_bool follows(Stream *, uint64_t)
        vector[Stream *] pending() except +
        void note_follow(Stream *, uint64_t) except +
        Failure *follow(const Stream *) except +


cdef extern from "borrowed.hpp" namespace "device_api" nogil:
    Storage *adopt_pinned(EngineDevice *, EngineDevice *, Block *) except +
    Storage *adopt_managed(EngineDevice *, Block *) except +
    EngineDevice *pinned_by(const Storage *)
    cpp_bool is_managed(const Storage *)
    void expose(Storage *)


cdef extern from "external.hpp" namespace "device_api" nogil:
    struct External:
        void (*release)(void *) noexcept nogil
        void *owner
    Failure *wrap_memory(EngineDevice *, void *, uint64_t, External *) except +
    Storage *adopt_wrapped(const External &, uint64_t) except +


cdef extern from "graph.hpp" namespace "device_api" nogil:
    struct Use "device_api::Graph::Use":
        StorageRef storage
        cpp_bool written
    cppclass EngineGraph "device_api::Graph":
        EngineGraph(EngineDevice *, Stream *) except +
        Stream *stream()
        Failure *begin() except +
        void note(Storage *, cpp_bool) except +
        Failure *end() except +
        void settle() except +
        const vector[Use] &uses()
        Failure *replay() except +
        void note_replay(uint64_t) except +
        void retire() except +


cdef extern from "deferred.hpp" namespace "device_api" nogil:
    cppclass Deferred:
        void reap() except +
        void reap_all "reap" (cpp_bool) except +
        uint64_t misses()
        cpp_bool empty()


cdef extern from "calls.hpp" namespace "device_api" nogil:
    Failure *query_stream(const Stream *, int32_t *) except +
    cpp_bool has_callbacks(const Stream *)
    Failure *add_callback(
        const Stream *, void (*)(void *, int32_t) noexcept nogil, void *, void (*)(void *) noexcept nogil
    ) except +
    Failure *create_event(const EngineDevice *, cpp_bool, da_event **) except +
    Failure *destroy_event(const EngineDevice *, da_event *)
    Failure *record_event(const Stream *, da_event *) except +
    Failure *wait_event(const Stream *, da_event *) except +
    Failure *query_event(const EngineDevice *, da_event *, int32_t *) except +
    Failure *synchronize_event(const EngineDevice *, da_event *, uint64_t) except +
    Failure *elapsed(const EngineDevice *, da_event *, da_event *, double *) except +


cdef extern from "allocator.hpp" namespace "device_api" nogil:
    struct Chunk:
        void *handle
        uint64_t bytes
    struct Block:
        Chunk *chunk
        uint64_t offset
        uint64_t bytes
    ctypedef const Block *const_Block_ptr "const device_api::Block *"
    struct BlockView:
        const Block *block
        const Chunk *chunk
        uint64_t offset
        uint64_t bytes
        cpp_bool free
        uint32_t stream
    struct AllocatorStatistics:
        uint64_t used
        uint64_t peak_used
        uint64_t reserved
        uint64_t peak_reserved
        uint64_t plugin_allocations
        uint64_t plugin_frees
        uint64_t retries
    cppclass Allocator:
        uint64_t round(uint64_t)
        Failure *allocate(uint64_t, Stream *, Block **) except +
        void free(Block *, const vector[Stream *] *) except +
        uint64_t free_count()
        Failure *release_cached(uint64_t, uint64_t *) except +
        void hand_over(uint64_t, Stream *, uint64_t) except +
        vector[BlockView] blocks() except +
        AllocatorStatistics statistics()
        void reset_peak()
        void count_retry()
    cppclass Budget:
        uint64_t limit()
        void set_limit(uint64_t)


cdef extern from "storage.hpp" namespace "device_api" nogil:
    struct Storage:
        uint64_t references
        void *handle
        uint64_t offset
        uint64_t bytes
        uint64_t version
        Stream *writer
        uint64_t written
        void *owner
        vector[Stream *] *uses
        Stream *home()
        void add_use(Stream *) except +
    cppclass StorageRef:
        StorageRef()
        StorageRef(Storage *)
        Storage *get()
    struct PoolStatistics:
        uint64_t allocated
        uint64_t peak_allocated
        uint64_t allocations
        uint64_t frees
        uint64_t cached
    cppclass StoragePool:
        Storage *take(uint64_t, const Stream *)
        vector[const Block *] binned() except +
        Storage *adopt(Block *) except +
        Storage *adopt_external(void *, uint64_t, uint64_t, void (*)(void *, vector[Stream *] *), void *) except +
        void flush() except +
        PoolStatistics statistics()
        void reset_peak()


cdef extern from "tensor.hpp" namespace "device_api" nogil:
    cppclass TensorState:
        TensorState()
        LayoutRef layout
        StorageRef storage
        uint64_t start
        void share(const LayoutRef &, Storage *, uint64_t)
        void adopt(const LayoutRef &, Storage *, uint64_t)
    uint64_t alias_class "(uint64_t) device_api::alias_class" (const TensorState &, const TensorState &)


cdef extern from "device.hpp" namespace "device_api" nogil:
    struct Tables:
        const da_memory_interface *memory
        const da_kernel_interface *kernel
        const da_device_interface *device
        const da_stream_interface *stream
        const da_random_interface *random
        const da_capture_interface *capture
    struct RandomState:
        uint64_t seed
        uint64_t offset
    cppclass EngineDevice "device_api::Device":
        EngineDevice(
            da_device *, const Tables &, const da_error_interface *, da_dl_device, uint64_t, uint64_t, cpp_bool
        ) except +
        Failure *open() except +
        da_device *handle()
        Stream *stream()
        Stream *default_stream()
        void set_stream(Stream *) except +
        Failure *acquire_stream(int32_t, Stream **) except +
        Failure *wrap_stream(void *, Stream **) except +
        Failure *end_wrapped(Stream *) except +
        size_t stream_count()
        Stream *stream_at(size_t)
        cpp_bool host_visible()
        const Tables &tables()
        void destroy_streams() except +
        cpp_bool synchronous()
        const vector[const da_kernel *] &kernels()
        cpp_bool usable()
        cpp_bool forked()
        void retire()
        vector[const void *] release_held(const vector[void *] &) except +
        vector[void *] take_wrapped() except +
        void keep(Failure *) except +
        Failure *take_kept()
        uint64_t unstaged
        uint32_t running
        Failure *synchronize() except +
        void memory_info(uint64_t *, uint64_t *) except +
        cpp_map[string, uint64_t] kernel_runs() except +
        void reset_kernel_runs()
        Deferred deferred
        Budget budget
        Allocator allocator
        Allocator pinned
        Allocator managed
        StoragePool pool
        RandomState random
        void return_random(uint64_t)
        cpp_bool deterministic


cdef extern from "device.hpp" namespace "device_api" nogil:
    void lend_random(const EngineDevice *, RandomState *, void *) except +
    void *take_random_back()


cdef extern from "philox.hpp" namespace "device_api" nogil:
    void philox_words(uint64_t, uint64_t, uint32_t *, uint64_t)


cdef extern from "program.hpp" namespace "device_api" nogil:
    enum SlotKind "device_api::SlotKind":
        SLOT_INPUT "device_api::SlotKind::input"
        SLOT_OUT "device_api::SlotKind::out"
        SLOT_OUTPUT "device_api::SlotKind::output"
        SLOT_TEMP "device_api::SlotKind::temp"
        SLOT_CONSTANT "device_api::SlotKind::constant"
    enum StepKind "device_api::StepKind":
        STEP_KERNEL "device_api::StepKind::kernel"
        STEP_RANDOM "device_api::StepKind::random"
        STEP_EXTERNAL "device_api::StepKind::external"
    cppclass Slot:
        SlotKind kind
        uint64_t value
        StorageRef constant
        uint64_t constant_start
        int64_t lowest
        int64_t highest
    cppclass Operand:
        Operand()
        cpp_bool present
        uint32_t slot
        uint64_t byte_offset
        LayoutRef layout
    cppclass Step:
        StepKind kind
        cpp_bool skipped
        uint32_t first
        uint32_t input_count
        uint32_t output_count
        uint64_t random_blocks
        vector[uint64_t] attributes
        int32_t scalar_input
        uint32_t scalar_index
        int32_t scalar_dtype
    struct Place:
        void *handle
        uint64_t offset
    cppclass Frame:
        Frame()
        uint64_t start(EngineProgram *, const TensorState *const *, const TensorState *const *) except +
        uint64_t resume()
        void supply(Storage *)
        void clear()
        Place *places
        Storage **storages
        Element *scalars
        Stream *stream
        cpp_bool crossing
        uint64_t work()
    cppclass EngineProgram "device_api::Program":
        EngineProgram(EngineDevice *, string) except +
        Slot *add_slot(SlotKind, uint64_t) except +
        void add_operand(cpp_bool, uint32_t, uint64_t, LayoutRef) except +
        Step *add_step(StepKind, uint32_t, uint32_t, uint32_t) except +
        void set_attributes(Step *, const char *, uint64_t) except +
        cpp_bool relocate(Step *, uint64_t, const char *, uint64_t) except +
        cpp_bool set_scalar(Step *, int32_t, uint64_t, int32_t) except +
        void add_result(uint32_t, uint64_t, LayoutRef) except +
        cpp_bool plain
        cpp_bool run_plain(const TensorState *const *, Storage *, Failure **)
        Failure *prepare() except +
        void finish() except +
        void retire() except +
        Failure *run(Frame *, uint64_t, uint64_t)
        uint64_t next_external(uint64_t)
        string describe(uint64_t) except +
        const char *step_op(uint64_t)
        EngineDevice *device
        vector[uint32_t] outputs
        vector[Slot] slots
        vector[Operand] operands
        vector[Step] steps
        vector[Operand] results
        uint64_t arena_bytes
        uint32_t external_count
        uint32_t scalar_count
        uint64_t random_total
        cpp_bool leaves_lock
        uint64_t runs
    Failure *kernel_supports(const EngineDevice &, const da_kernel *, const vector[Operand] &,
                             const vector[Operand] &, const void *, cpp_bool *) except +


cdef extern from "plan_table.hpp" namespace "device_api" nogil:
    cppclass PlanEntry:
        PlanEntry()
        cpp_bool used
        uint64_t hash
        vector[uint64_t] words
        vector[LayoutRef] layouts
        void *attributes
        void *program
    cppclass PlanTable:
        PlanTable(size_t) except +
        @staticmethod
        uint64_t hash(const uint64_t *, size_t, uint64_t)
        size_t first_position(uint64_t)
        PlanEntry *find(uint64_t, const uint64_t *, size_t, size_t *)
        PlanEntry *insert(PlanEntry *) except +
        vector[PlanEntry *] clear() except +
        size_t size()
        uint64_t generation()


cdef extern from "transfer.hpp" namespace "device_api" nogil:
    cppclass Range:
        Range()
        void *handle
        uint64_t offset
    Failure *write_to_device(EngineDevice *, Stream *, Range, const void *, uint64_t, cpp_bool *) except +
    Failure *write_from_pinned(EngineDevice *, Stream *, Range, const void *, uint64_t) except +
    Failure *read_from_device(EngineDevice *, Stream *, Range, void *, uint64_t) except +
    Failure *copy_within(EngineDevice *, Stream *, Range, Range, uint64_t) except +
    Failure *copy_from_peer(EngineDevice *, Stream *, EngineDevice *, Range, Range, uint64_t) except +


cdef extern from "host.hpp" namespace "device_api" nogil:
    cppclass LogLine:
        int32_t level
        string text
    const da_host *host_services() except +
    void set_log_notify(void (*)() noexcept nogil)
    vector[LogLine] take_log(uint64_t *) except +
