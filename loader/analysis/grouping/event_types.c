// SPDX-License-Identifier: Apache-2.0
/* event_types.c: XProf's table of host events; see event_types.h. */
#include "event_types.h"

typedef struct {
    const char *name;
    enum EventType type;
} NamedType;

static const NamedType names[] = {
    /* sorted */
    {"ASBSQueue::Schedule", EVENT_NAMED},
    {"BatchingSessionRun", EVENT_BATCHING_SESSION_RUN},
    {"BrainSessionRun", EVENT_NAMED},
    {"CompleteCallbacks", EVENT_COMPLETE_CALLBACKS},
    {"ConcatInputTensors", EVENT_NAMED},
    {"CustomWait", EVENT_QUEUED_REQUEST},
    {"Delinearize", EVENT_NAMED},
    {"DoEnqueueContinuationProgram", EVENT_ENQUEUE_CONTINUATION},
    {"DoEnqueueProgram", EVENT_ENQUEUE_PROGRAM},
    {"EagerExecute", EVENT_EAGER_EXECUTE},
    {"EnqueueRequestLocked", EVENT_ENQUEUE_REQUEST},
    {"ExecutorDoneCallback", EVENT_NAMED},
    {"ExecutorState::Process", EVENT_EXECUTOR_PROCESS},
    {"ForOp", EVENT_LOOP_OP},
    {"ForeverOp", EVENT_LOOP_OP},
    {"FunctionRun", EVENT_FUNCTION_RUN},
    {"HostCallbackRequest", EVENT_QUEUED_REQUEST},
    {"InstantiatedCapturedFunction::Run", EVENT_CAPTURED_FUNCTION},
    {"InstantiatedCapturedFunction::RunAsync", EVENT_CAPTURED_FUNCTION},
    {"InstantiatedCapturedFunction::RunInstantiated", EVENT_CAPTURED_FUNCTION},
    {"InstantiatedCapturedFunction::RunWithBorrowedArgs", EVENT_CAPTURED_FUNCTION},
    {"Iterator", EVENT_TF_DATA},
    {"Iterator::Prefetch::Generator", EVENT_NAMED},
    {"IteratorGetNextAsOptionalOp::DoCompute", EVENT_GET_NEXT_OPTIONAL},
    {"IteratorGetNextOp::DoCompute", EVENT_GET_NEXT},
    {"KernelExecute", EVENT_KERNEL_EXECUTE},
    {"KernelLaunch", EVENT_KERNEL_LAUNCH},
    {"Linearize", EVENT_NAMED},
    {"MapAndBatchConsume", EVENT_INTERNAL},
    {"MapAndBatchProduce", EVENT_INTERNAL},
    {"MemoryAllocation", EVENT_INTERNAL},
    {"MemoryDeallocation", EVENT_INTERNAL},
    {"MergeInputTensors", EVENT_NAMED},
    {"OnDeviceRecvRequest", EVENT_QUEUED_REQUEST},
    {"OnDeviceRecvRequestMulti", EVENT_QUEUED_REQUEST},
    {"OnDeviceSendRecvLocalRequest", EVENT_QUEUED_REQUEST},
    {"OnDeviceSendRequest", EVENT_QUEUED_REQUEST},
    {"OnDeviceSendRequestMulti", EVENT_QUEUED_REQUEST},
    {"OrbaxServing::ConcatInputBuffers", EVENT_NAMED},
    {"OrbaxServing::ProcessBatch", EVENT_PROCESS_BATCH},
    {"ParallelBatchConsume", EVENT_NAMED},
    {"ParallelBatchProduce", EVENT_NAMED},
    {"ParallelForOp", EVENT_LOOP_OP},
    {"ParallelInterleaveConsume", EVENT_INTERNAL},
    {"ParallelInterleaveInitializeInput", EVENT_INTERNAL},
    {"ParallelInterleaveProduce", EVENT_INTERNAL},
    {"ParallelMapConsume", EVENT_INTERNAL},
    {"ParallelMapProduce", EVENT_INTERNAL},
    {"ParseExampleConsume", EVENT_INTERNAL},
    {"ParseExampleProduce", EVENT_INTERNAL},
    {"PjrtAsyncWait", EVENT_QUEUED_REQUEST},
    {"PrefetchConsume", EVENT_INTERNAL},
    {"PrefetchProduce", EVENT_INTERNAL},
    {"ProcessBatch", EVENT_PROCESS_BATCH},
    {"ReadHbm", EVENT_NAMED},
    {"RemotePerfCounter", EVENT_NAMED},
    {"RunGraph", EVENT_RUN_GRAPH},
    {"RunGraphDone", EVENT_NAMED},
    {"RunProgramRequest", EVENT_QUEUED_REQUEST},
    {"ScheduleWithEagerSplit", EVENT_NAMED},
    {"ScheduleWithSplit", EVENT_NAMED},
    {"ScheduleWithoutSplit", EVENT_NAMED},
    {"ServingModelRun", EVENT_NAMED},
    {"SessionRun", EVENT_SESSION_RUN},
    {"TPUPartitionedCallOp-ExecuteLocal", EVENT_NAMED},
    {"TPUPartitionedCallOp-ExecuteRemote", EVENT_NAMED},
    {"TPUPartitionedCallOp-InitializeVarOnTPU", EVENT_NAMED},
    {"TfOpRun", EVENT_TF_OP},
    {"TfrtModelRun", EVENT_NAMED},
    {"ThreadpoolListener::StartRegion", EVENT_START_REGION},
    {"ThreadpoolListener::StopRegion", EVENT_STOP_REGION},
    {"TpuExecuteOp", EVENT_TPU_EXECUTE_OP},
    {"TraceContext", EVENT_TRACE_CONTEXT},
    {"TransferBufferFromDevice-FastPath", EVENT_NAMED},
    {"TransferD2HRequest", EVENT_QUEUED_REQUEST},
    {"TransferH2DRequest", EVENT_QUEUED_REQUEST},
    {"TransferPreprocessedH2DRequest", EVENT_QUEUED_REQUEST},
    {"UnknownHostEventType", EVENT_NAMED},
    {"WhileOp-EvalCond", EVENT_LOOP_OP},
    {"WhileOp-StartBody", EVENT_LOOP_OP},
    {"WriteHbm", EVENT_NAMED},
    {"tpu::System::Execute", EVENT_NAMED},
    {"tpu::System::TransferFromDevice=>IssueEvent", EVENT_NAMED},
    {"tpu::System::TransferFromDevice=>IssueEvent=>Done", EVENT_NAMED},
    {"tpu::System::TransferToDevice=>IssueEvent", EVENT_NAMED},
    {"tpu::System::TransferToDevice=>IssueEvent=>Done", EVENT_NAMED},
};

static int by_name(const void *key, const void *entry)
{
    return strcmp(key, ((const NamedType *)entry)->name);
}

enum EventType event_type_named(const Text *name)
{
    enum { LONGEST = 49 };
    if (name->n_bytes > LONGEST || name->has_nul) return EVENT_UNTYPED;
    const NamedType *found = bsearch(name->text, names, COUNT(names), sizeof *names, by_name);
    return found ? found->type : EVENT_UNTYPED;
}

enum EventType event_type(const Text *name)
{
    enum EventType type = event_type_named(name);
    if (type != EVENT_UNTYPED) return type;
    TfOp op = tf_op_parse(slice_of(name));
    if (op.category == OP_TENSORFLOW) return EVENT_TF_OP;
    return op.category == OP_TF_DATA ? EVENT_TF_DATA : EVENT_UNTYPED;
}
