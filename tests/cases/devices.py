# SPDX-License-Identifier: Apache-2.0
"""devices and peak_flops(): what a device is capable of; functions for rates."""
import os

from lib.cases import case, near, same
from lib.shell import DIR, ask, rows
from lib.wire import L, Plane, V, space


def gpu(vendor, major, minor, cores, ghz, gb_per_s=0, **more):
    stats = [('device_vendor', {'str': vendor}), ('compute_cap_major', {'int64': major}),
             ('compute_cap_minor', {'int64': minor}),
             ('core_count', {'int64': cores}), ('clock_rate', {'int64': round(ghz * 1e6)}),
             ('memory_bandwidth', {'uint64': round(gb_per_s * 1e9)})]
    return space(Plane('/device:GPU:0', 1, stats + [(k, v) for k, v in more.items()]).bytes())


def tpu(**stats):
    return space(Plane('/device:TPU:0', 1, stats.items()).bytes())


def device(data):
    return ask("SELECT d.*, peak_flops('{x}') AS peak FROM devices('{x}') AS d", x=data)[0]


@case
def peaks():
    """Peak rates of GPUs from clock, cores and generation."""
    for name, data, tflops, rel, model in [
        ('Volta', gpu('Nvidia', 7, 0, 80, 1.53, 900), 125.34, 1e-4, 'Nvidia GPU (Volta)'),
        ('H100', gpu('Nvidia', 9, 0, 114, 1.62), 756, 1e-3, 'Nvidia GPU (Hopper)'),
        ('A100', gpu('Nvidia', 8, 0, 108, 1.41), 312, 1e-3, 'Nvidia GPU (Ampere)'),
        ('B200', gpu('Nvidia', 10, 0, 148, 1.83), 2218, 1e-3, 'Nvidia GPU (Blackwell)'),
        ('10.9', gpu('Nvidia', 10, 9, 148, 1.83), 2218, 1e-3, 'Nvidia GPU (Blackwell)'),
        ('MI300X', gpu('AMD', 9, 4, 304, 2.1), 1307.44, 1e-5, 'AMD GPU - gfx942'),
        ('MI100', gpu('AMD', 9, 0, 120, 1.502, gpu_device_name={'str': 'gfx908'}), 184.6, 1e-3,
         'AMD GPU - gfx908'),
        ('MI250', gpu('AMD', 9, 0, 104, 1.7, gpu_device_name={'str': 'gfx90a'}), 181.0, 1e-3,
         'AMD GPU - gfx90a'),
        ('MI355X', gpu('AMD', 9, 5, 256, 2.4), 2516.6, 1e-4, 'AMD GPU - gfx950')]:
        row = device(data)
        near(row['peak_flops_per_second'] / 1e12, tflops, name, rel)
        near(row['peak'], row['peak_flops_per_second'], name)
        same(row['device_type'], model, name)
    for capability, model in [((7, 2), 'Volta'), ((7, 5), 'Turing'), ((8, 0), 'Ampere'),
                              ((8, 7), 'Ampere'), ((8, 9), 'Ada Lovelace'), ((9, 0), 'Hopper')]:
        same(device(gpu('Nvidia', *capability, 40, 1.59))['device_type'], 'Nvidia GPU (%s)' % model)
    # operations of a core in a cycle, as XProf 2.24.2 counts them: vectors of the oldest, halves
    # from Pascal on, tensor cores from Volta on
    for capability, flops, model in [((1, 3), 64, ''), ((2, 0), 64, ' (Fermi)'),
                                     ((2, 1), 64, ' (Fermi)'), ((3, 0), 384, ' (Kepler)'),
                                     ((3, 7), 384, ' (Kepler)'), ((4, 0), 384, ''),
                                     ((5, 0), 256, ' (Maxwell)'), ((5, 3), 256, ' (Maxwell)'),
                                     ((6, 0), 256, ' (Pascal)'), ((6, 1), 256, ' (Pascal)'),
                                     ((7, 2), 1024, ' (Volta)'),
                                     ((8, 6), 1024, ' (Ampere)'), ((8, 7), 1024, ' (Ampere)'),
                                     ((8, 9), 1024, ' (Ada Lovelace)'), ((11, 0), 8192, ''),
                                     ((12, 0), 8192, '')]:
        row = device(gpu('Nvidia', *capability, 10, 1))
        near(row['peak_flops_per_second'], 10 * flops * 1e9, capability)
        same((row['device_type'], row['peak_sram_read_bytes_per_second']),
             ('Nvidia GPU' + model, 10 * (64 if capability[0] <= 2 else 256) * 1e9), capability)
    near(device(gpu('Nvidia', 7, 0, 80, 1.53, 900))['hbm_ridge_point'], 139.26, 'ridge', 1e-4)
    near(device(gpu('AMD', 9, 4, 304, 2.1))['peak_sram_read_bytes_per_second'], 81715.2e9,
         'LDS of MI300X')
    near(device(gpu('AMD', 9, 5, 256, 2.4))['peak_sram_write_bytes_per_second'], 157286.4e9,
         'LDS of MI355X')


@case
def gpu_of_two_processes():
    """A GPU counts as a device of each process; its UUID shows that it is one. NULL without one."""
    uuid = [('uuid', {'str': 'f36a5dbc-2230-151d-5d8b-f3a47edf4e91'})]
    files = [space(Plane('/device:GPU:0', 1, stats).bytes()) for stats in (uuid, uuid, [])]
    x = os.path.join(DIR, 'processes')
    os.mkdir(x)
    for i, data in enumerate(files):
        with open(os.path.join(x, 'node_%d.xplane.pb' % i), 'wb') as f:
            f.write(data)
    same(ask("SELECT uuid, count(*) AS n FROM devices('%s') GROUP BY uuid" % x),
         [{'uuid': None, 'n': 1}, {'uuid': uuid[0][1]['str'], 'n': 2}])
    same(ask("SELECT device_count AS n FROM kpi('%s')" % x), [{'n': 3}])


@case
def unknown_devices():
    """Unknown values are NULL, and a peak that the device records is used."""
    row = device(gpu('AMD', 9, 0, 120, 1.5))
    same((row['peak_flops_per_second'], row['peak'], row['device_type']),
         (None, None, 'AMD GPU - gfx-9XX series'))
    row = device(gpu('AMD', 7, 0, 120, 1.5, gpu_device_name={'str': 'gfx942:sramecc+:xnack-'}))
    same((row['peak_flops_per_second'], row['device_type']), (None, 'AMD GPU'))
    same(device(gpu('Nvidia', 0, 5, 80, 1.53))['compute_capability'], '0.5', 'as the plane has it')
    row = device(gpu('NVIDIA', 7, 0, 80, 1.53))
    same((row['peak_flops_per_second'], row['device_type'], row['hbm_ridge_point']),
         (None, 'GPU', None), 'a vendor spelled otherwise')
    row = device(gpu('Nvidia', 7, 0, 80, 1.53, peak_teraflops_per_second={'double': 99.5}))
    near(row['peak'], 99.5e12, 'a peak that the device says')
    row = device(tpu(peak_teraflops_per_second={'double': 141.0},
                     peak_hbm_bw_gigabytes_per_second={'double': 900.0}))
    near(row['hbm_ridge_point'], 156.66666666666666, 'TPU')
    same((row['device_type'], row['has_cmem'], row['megacore'], row['core_count']),
         (None, 0, None, None))
    row = device(tpu(peak_teraflops_per_second={'int64': 141}, has_megacore={'int64': 1},
                     core_details={'bytes': L(1, 'a') + V(2, 3) + V(5, 7)}))
    near(row['peak'], 141e12, 'a peak stored as an integer')
    same([row[k] for k in ('megacore', 'core_hostname', 'device_ordinal', 'core_num',
                           'global_chip_id')], [1, 'a', 3, 0, 7])
    for stats in ({'core_count': {'int64': -1}, 'clock_rate': {'int64': -(1 << 63)}},
                  {'peak_teraflops_per_second': {'double': float('nan')}},
                  {'peak_teraflops_per_second': {'double': float('inf')}},
                  {'compute_cap_major': {'int64': -1}}, {'device_vendor': {'bytes': b'\xff'}}):
        device(gpu('Nvidia', 7, 0, 80, 1.53, 900, **stats))
    same(device(gpu('Nvidia', 7, 0, 0, 1.53, 0))['peak'], None, 'no core')
    # the measured device, the TPU's, tells no peak: the first that tells one counts
    planes = [Plane('/device:TPU:%d' % i, i + 1, stats).bytes() for i, stats in enumerate((
        {}, {'peak_teraflops_per_second': {'double': 2.0}},
        {'peak_teraflops_per_second': {'double': 3.0}}))]
    same(rows("SELECT peak_flops('{x}')", x=space(*planes)), [(2e12,)], 'two peaks')
    same(rows("SELECT peak_flops('{x}')", x=space(planes[0], planes[0])), [(None,)], 'no peak')
    same(ask("SELECT count(*) AS n, peak_flops('{x}') AS peak FROM devices('{x}')",
             x=space(Plane('/host:CPU').bytes())), [{'n': 0, 'peak': None}])


@case
def functions():
    for sql, want in [("flops_utilization(2.5e9, 50000000, 100e12)", 0.5),
                      ("bandwidth_utilization(1000, 1000000, 2e9)", 0.5),
                      ("arithmetic_intensity(100, 50)", 2.0),
                      ("roofline_flops(50, 312e12, 1.5e12)", 75e12),
                      ("roofline_flops(1000, 312e12, 1.5e12)", 312e12),
                      # 500 GFLOP/s over 200 GiB/s
                      ("arithmetic_intensity(500e9, 200 * 1073741824.0)", 2.3283064365386963)]:
        near(ask('SELECT %s AS x' % sql)[0]['x'], want, sql)
    for sql in ("flops_utilization(1, 0, 1e12)", "flops_utilization(1, -5, 1e12)",
                "flops_utilization(1, 1, 0)", "flops_utilization(NULL, 1, 1)",
                "bandwidth_utilization(-1, 1, 1)",
                "arithmetic_intensity(1, 0)", "roofline_flops(1, 0, 1)", "roofline_flops(-1, 1, 1)",
                "flops_utilization(9e999, 9e999, 1)", "peak_flops(NULL)"):
        same(ask('SELECT %s AS x' % sql)[0]['x'], None, sql)
    same(ask("SELECT flops_utilization(0, 1, 1) AS x")[0]['x'], 0.0, 'no work is 0')
