// SPDX-License-Identifier: Apache-2.0
/* nvtx_real.c: ranges through NVIDIA's own NVTX header. */
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>
#include <wchar.h>

int main(void)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("my domain");
    nvtxStringHandle_t text = nvtxDomainRegisterStringA(domain, "registered");
    nvtxEventAttributes_t a = {0};
    a.version = NVTX_VERSION, a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
    a.messageType = NVTX_MESSAGE_TYPE_REGISTERED, a.message.registered = text;
    a.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE, a.payload.dValue = 2.5;
    nvtxNameOsThreadA((uint32_t)gettid(), "main thread");
    nvtxRangePushA("outer");
    nvtxRangePushW(L"w\u00efde");
    nvtxDomainRangePushEx(domain, &a);
    usleep(2000);
    nvtxDomainRangePop(domain);
    nvtxRangePop();
    nvtxMarkA("a mark");
    nvtxRangePop();
    nvtxRangeId_t id = nvtxRangeStartA("start to end");
    usleep(1000);
    nvtxRangeEnd(id);
    nvtxRangePushA("never closed");
    return 0;
}
