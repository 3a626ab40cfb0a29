// SPDX-License-Identifier: Apache-2.0
/* tf_op.c: names of framework ops and what they parse to: XProf's own cases, and the borders
 * between the rules. */
#include "../../loader/base/tf_op.h"
#include "check.h"

static Slice slice(const char *text) { return (Slice){text, strlen(text)}; }

int main(void)
{
    static const struct {
        const char *full;
        enum OpCategory category;
        const char *name, *type, *display;
    } cases[] = {
        {"OpName:OpType", OP_TENSORFLOW, "OpName", "OpType", "OpType"},
        {"RunStep/Server:54635", OP_UNKNOWN, "RunStep/Server:54635", "", "RunStep/Server:54635"},
        {"XLA::StartProgram", OP_UNKNOWN, "XLA::StartProgram", "", "XLA::StartProgram"},
        {"Iterator::Batch::Map::TfRecord", OP_TF_DATA, "Iterator::Batch::Map::TfRecord", "Dataset",
         "TfRecord"},
        {"op_name/op_type:", OP_JAX, "op_name/op_type", "op_type", "op_type"},
        {"op_name/op_type[array=([])]:", OP_JAX, "op_name/op_type[array=([])]", "op_type",
         "op_type"},
        {"namescope/OpName_1:", OP_TENSORFLOW, "namescope/OpName_1", "OpName", "OpName"},
        {"namescope/OpName_a:", OP_TENSORFLOW, "namescope/OpName_a", "OpName_a", "OpName_a"},
        {"input_pipeline/enqueue/1:InfeedEnqueueTuple", OP_TENSORFLOW, "input_pipeline/enqueue/1",
         "InfeedEnqueueTuple", "InfeedEnqueueTuple"},
        {"", OP_UNKNOWN, "", "", ""},
        {":", OP_TENSORFLOW, "", "", ""},
        {"a", OP_UNKNOWN, "a", "", "a"},
        {"python thread  \t", OP_UNKNOWN, "python thread  \t", "", "python thread"},
        {"MEMCPYHtoD pinned", OP_MEMCPY_HTOD, "MEMCPYHtoD pinned", "MemcpyHToD", "MemcpyHToD"},
        {"memcpyDTOHasync", OP_MEMCPY_DTOH, "memcpyDTOHasync", "MemcpyDToH", "MemcpyDToH"},
        {"MEMCPYDtoD", OP_MEMCPY_DTOD, "MEMCPYDtoD", "MemcpyDToD", "MemcpyDToD"},
        {"MEMCPYHtoH", OP_MEMCPY_HTOH, "MEMCPYHtoH", "MemcpyHToH", "MemcpyHToH"},
        {"MemcpyH2D", OP_UNKNOWN, "MemcpyH2D", "", "MemcpyH2D"},
        {"MEMCPYHtoD:1", OP_UNKNOWN, "MEMCPYHtoD:1", "", "MEMCPYHtoD:1"},
        {"a:_Send", OP_TENSORFLOW, "a", "_Send", "_Send"},
        {"_a:_send", OP_JAX, "_a", "_send", "_send"},
        {"jit(f)/dot:dot_general", OP_JAX, "jit(f)/dot", "dot_general", "dot_general"},
        {"jit(f)/reduce_sum:Conv2D", OP_UNKNOWN, "jit(f)/reduce_sum:Conv2D", "",
         "jit(f)/reduce_sum:Conv2D"},
        {"jit(f)/add_12:", OP_JAX, "jit(f)/add_12", "add", "add"},
        {"a/12:", OP_TENSORFLOW, "a/12", "12", "12"},
        {"a/b_9223372036854775808:", OP_JAX, "a/b_9223372036854775808", "b_9223372036854775808",
         "b_9223372036854775808"},
        {"a/b_9223372036854775807:", OP_JAX, "a/b_9223372036854775807", "b", "b"},
        {"a/B_-1:", OP_TENSORFLOW, "a/B_-1", "B", "B"},
        {"a:x[1\n2]", OP_UNKNOWN, "a:x[1\n2]", "", "a:x[1\n2]"},
        {"a:x[1]y", OP_UNKNOWN, "a:x[1]y", "", "a:x[1]y"},
        {"a:x[1]]", OP_JAX, "a", "x", "x"},
        {"XLA_Args:XLA_Args", OP_TENSORFLOW, "XLA_Args", "XLA_Args", "XLA_Args"},
        {"gradients/a->b:Mul", OP_TENSORFLOW, "gradients/a->b", "Mul", "Mul"},
        {"a b:Mul", OP_UNKNOWN, "a b:Mul", "", "a b:Mul"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        TfOp op = tf_op_parse(slice(cases[i].full));
        bool is_iterator;
        Slice display = tf_op_display(&op, &is_iterator);
        check(op.category == cases[i].category && slice_is(op.name, cases[i].name) &&
                  slice_is(op.type, cases[i].type) && slice_is(display, cases[i].display) &&
                  is_iterator == (op.category == OP_TF_DATA),
              cases[i].full);
    }
    Slice none = slice("");
    check(op_is_infeed_enqueue(slice("InfeedEnqueueTuple")) &&
              !op_is_infeed_enqueue(slice("Infeed")),
          "infeed enqueue");
    check(op_is_infeed_or_outfeed(slice("sparsecorev0 infeed")) &&
              op_is_infeed_or_outfeed(slice("outfeed")) &&
              !op_is_infeed_or_outfeed(slice("fusion")),
          "infeed or outfeed");
    check(op_is_container(slice("while")) && !op_is_container(slice("whiles")), "container");
    check(op_is_off_duty(slice("host recv-done")) && op_is_off_duty(slice("async-done")) &&
              !op_is_off_duty(slice("send")),
          "off duty");
    check(op_is_outside_compilation(slice("a:XlaSendToHost"), none) &&
              op_is_outside_compilation(none, slice("%s = send-done(%a), is_host_transfer=true")) &&
              !op_is_outside_compilation(none, slice("send-done")),
          "outside compilation");
    check(op_is_rematerialization(none, slice("%add.remat.2 = f32[]")) &&
              !op_is_rematerialization(none, slice("%add = f32[] x(%b.remat)")) &&
              op_is_rematerialization(slice("a/rematted_computation/b"), none),
          "rematerialization");
    return finish();
}
