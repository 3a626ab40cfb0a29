#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The column short_name by the rules of docs/semantics.md: of all profiles, of names written by
hand, and of random ones."""
import os
import random
import re
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from compare import Run, agree, main, seeds, tried  # noqa: E402
from lib.wire import L, Plane, space  # noqa: E402

WRAPPERS = {'Kernel', 'Kernel2', 'kernel', 'device_kernel', 'kentry', 'trampoline_kernel',
            '_kernel_agent'}
BUILT_IN = set('bool char short int long unsigned signed float double void true false const '
               'volatile auto nullptr'.split())
OPEN, CLOSE = '([{', ')]}'


def closing(text):
    """Index of the bracket that closes the first character; the length without one."""
    angle, angles, depth = text[0] == '<', 0, 0
    for i, c in enumerate(text):
        if c in OPEN:
            depth += 1
        elif c in CLOSE:
            depth = max(depth - 1, 0)
        elif c in '<>' and not depth:
            angles = max(angles + (1 if c == '<' else -1), 0)
        if not depth and not (angle and angles):
            return i
    return len(text)


def split_at_commas(text):
    parts, part = [], ''
    while text:
        if text[0] in '<' + OPEN:
            end = closing(text) + 1
            part, text = part + text[:end], text[end:]
        elif text[0] == ',':
            parts, part, text = parts + [part], '', text[1:]
        else:
            part, text = part + text[0], text[1:]
    return parts + [part]


def read_cxx(text):
    """Steps 5 and 6: (what is left, the template arguments at its end or None); (None, None): no
    C++."""
    kept, arguments, at, name = '', None, None, text
    while text:
        if text.startswith('(anonymous namespace)::'):
            text = text[len('(anonymous namespace)::'):]
        elif text[0] == '<':
            end = closing(text)
            arguments, at, text = text[1:end], len(kept), text[end + 1:]
        elif text[0] == '{':
            end = closing(text)
            kept, text = kept + re.match(r'[A-Za-z0-9_$]*', text[1:end]).group(), text[end + 1:]
        elif text[0] in '([':
            if not kept or name[:-len(text)].endswith(' '):
                return None, None
            break
        else:
            kept, text = kept + text[0], text[1:]
            if re.search(r'(^|[^A-Za-z0-9_$])operator$', kept):
                symbols = text[:2] if text[:2] in ('()', '[]') else re.match(r'[-+*/%^&|~!=<>,]*',
                                                                             text).group()
                kept, text = kept + symbols, text[len(symbols):]
    kept = kept.rstrip(' ')
    if kept.endswith('::operator()'):
        kept = kept[:-len('::operator()')]
    if at != len(kept):
        arguments = None
    return kept[max(kept.rfind(' ') + 1, kept.rfind('::') + 2 if '::' in kept else 0):], arguments


def of_cxx(name):
    short, arguments = read_cxx(name)
    if short in WRAPPERS and arguments is not None:
        for argument in split_at_commas(arguments):
            argument = argument.lstrip(' ')
            if re.match('[A-Za-z_]', argument) and re.match(r'[A-Za-z0-9_$]*',
                                                            argument).group() not in BUILT_IN:
                return read_cxx(argument)[0] or short
    return short


def mangled_parts(data):
    """(the last identifier or None, what follows it), of bytes."""
    last, nested = None, data.startswith(b'N')
    if nested:
        data = data[1:].lstrip(b'rVKRO')
    while data and (nested or last is None):
        number = re.match(rb'[0-9]+', data)
        skipped = re.match(rb'L|S[0-9A-Z]*_|S[tabsiod]', data)
        if number:
            n, rest = int(number.group()), data[number.end():]
            if n == 0 or n > len(rest):
                break
            last, data = rest[:n], rest[n:]
        elif skipped:
            data = data[skipped.end():]
        else:
            break
    return last, data


def of_mangled(name):
    last, rest = mangled_parts(name.encode()[2:])
    if last is not None and last.decode(errors='replace') in WRAPPERS and rest.startswith(b'I'):
        rest = re.match(rb'(?:L[^E]*(?:E|$)|[a-z])*(.*)', rest[1:], re.S).group(1)
        if rest:
            last = mangled_parts(rest)[0] or last
    return last and last.decode(errors='replace')


def short_form(name):
    if name.endswith('.kd') and name != '.kd':
        name = name[:-3]
    if ' = ' in name:
        short = name.split(' = ')[0]
        short = short[1:] if short.startswith('%') else short
    elif name.startswith('_Z'):
        short = of_mangled(name)
    elif re.search(r'::|[<([]', name):
        short = of_cxx(name)
    else:
        short = name
    data = (short or name).replace('#', '_').encode()
    return data.decode() if len(data) <= 60 else data[:57].decode(errors='ignore') + '...'


def unique(names):
    """{name: its short name} of all names of a run."""
    groups, found = {}, {}
    for name in names:
        groups.setdefault(short_form(name), set()).add(name)
    for form, group in groups.items():
        for digits in (0, 4, 8):
            suffixes = {name: '#' + ('%08x' % zlib.crc32(name.encode()))[:digits] if digits else ''
                        for name in group}
            if len(set(suffixes.values())) == len(group):
                break
        else:
            suffixes = {name: '#%d' % i for i, name in enumerate(sorted(group, key=str.encode), 1)}
        found.update((name, form + suffix) for name, suffix in suffixes.items())
    return found


def of_gpus(run):
    """{name: its short name} of a run's GPUs"""
    return unique({meta.name for planes in run.hosts.values() for p in planes if p.kind == 'gpu'
                   for meta in p.metas.values()} | {''})


def check(run):
    names = of_gpus(run)
    events, totals, stats, ops, timeline = run.ask_all(
        'SELECT plane_kind AS kind, name, display_name AS display, short_name AS short '
        'FROM trace_events({x})',
        'SELECT plane_kind AS kind, name, short_name AS short FROM event_totals({x})',
        'SELECT kernel_name AS name, short_name AS short FROM kernel_stats({x}, 0)',
        'SELECT kernel_name AS name, short_name AS short FROM kernel_ops({x})',
        'SELECT plane_kind AS kind, name, display_name AS display, short_name AS short '
        'FROM timeline({x}) WHERE NOT derived')
    for what, rows in (('trace_events', events), ('timeline', timeline)):
        agree(what, [r['short'] for r in rows], [names[r['name']] if r['kind'] == 'gpu'
                                                 else r['display'] or r['name'] for r in rows])
    agree('event_totals', [r['short'] for r in totals if r['kind'] == 'gpu'],
          [names[r['name']] for r in totals if r['kind'] == 'gpu'])
    for what, rows in (('kernel_stats', stats), ('kernel_ops', ops)):
        # A damaged file has kernels on other planes; they keep their names.
        agree(what, [r['short'] for r in rows], [names.get(r['name'], r['name']) for r in rows])


# ---- names written by hand ----

BY_HAND = {
    'void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_f16>('
    'cutlass_80_tensorop_s16816gemm_f16::Params)':
    'cutlass_80_tensorop_s16816gemm_f16',
    'void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<1, '
    'int> > >(flash::Params)': 'enable_sm90',
    'void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, '
    '1>(float*)': 'CatArrayBatchedCopy',
    '(anonymous namespace)::fill(int)': 'fill',
    'std::enable_if<!(4>2), void>::type ns::reduce<(ns::Op)1, &ns::f, '
    'ns::{lambda(int)#2}>(int) [clone .isra.0]': 'reduce',
    'bool ns::operator< <int>(ns::A, ns::B)': 'operator<',
    'ns::A ns::operator<<(ns::A, int)': 'operator<<',
    'void ns::Functor<int>::operator()(int) const': 'Functor',
    'void ns::{lambda(int)#1}::operator()(int) const': 'lambda',
    'void f(int)::{lambda(int)#1}::operator()(int) const': 'f',
    'ns::A::operator[](int)': 'operator[]',
    'void my_operator<3>(int)': 'my_operator',
    'kernel<4>(int)': 'kernel',
    'void kernel<unsigned int, (E)2, &g, ns::Scan<float>, ns::Other>(int)': 'Scan',
    'void rocprim::detail::trampoline_kernel<rocprim::detail::wrapped_scan_config<'
    'rocprim::default_config, int>, (rocprim::target_arch)942>(int)': 'wrapped_scan_config',
    'volta_sgemm_128x64_nn': 'volta_sgemm_128x64_nn',
    'triton_poi_fused_add_0': 'triton_poi_fused_add_0',
    'loop_fusion.kd': 'loop_fusion',
    '.kd': '.kd',
    'Memcpy HtoD (Pageable -> Device)': 'Memcpy HtoD (Pageable -> Device)',
    'MemcpyD2H': 'MemcpyD2H',
    '%fusion.3 = f32[8]{0} fusion(f32[8]{0} %p)': 'fusion.3',
    '_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdIiEEEEvi': 'Rmsnorm2dFwd',
    '_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_1AEEEEEvi':
    'ImplicitGemmConvolution',
    '_ZN2ck6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3IiEEvi':
    'kernel_grouped_conv_fwd_xdl_cshuffle_v3',
    '_ZL3fooILi2EEvi': 'foo',
    '_Z3foo3Bar': 'foo',
    '_Z': '_Z',
    '_Z99x': '_Z99x',
    'a_kernel_with_a_very_long_name_that_no_screen_of_a_hundred_columns_has_room_for':
    'a_kernel_with_a_very_long_name_that_no_screen_of_a_hundre...',
    'x' * 56 + 'ééé': 'x' * 56 + '...',
    'ns::': 'ns::',
    'f<int': 'f',
    'with#mark': 'with_mark',
}


def same_digits(n_digits):
    """Two names of one short form whose CRC-32 starts with the same digits."""
    dice, seen = random.Random(7), {}
    while True:
        name = 'f<%012x>()' % dice.getrandbits(48)
        crc = ('%08x' % zlib.crc32(name.encode()))[:n_digits]
        if seen.setdefault(crc, name) != name:
            return [seen[crc], name]


def profile(folder, names, *other_host):
    """A run of one or two hosts whose GPUs run kernels of these names."""
    os.makedirs(folder)
    for i, of_host in enumerate([names, *other_host]):
        kernels = [(name, 10**6 * at, 10**6, {'kernel_details': {'str': 'regs:1'}})
                   for at, name in enumerate(of_host)]
        with open(os.path.join(folder, 'host%d.xplane.pb' % i), 'wb') as f:
            f.write(space(Plane('/device:GPU:0', 1).line(1, 'Stream #1', kernels).bytes(),
                          Plane('/host:CPU', 2).line(1, 'main', [('ns::f<int>()', 0, 5)]).bytes()))
    return Run(folder,
               [os.path.join(folder, 'host%d.xplane.pb' % i) for i in range(1 + len(other_host))])


PIECES = ['void ', 'ns::', '(anonymous namespace)::', 'f', 'Kernel', 'kernel', 'operator', '<', '>',
          '<<', '()', '(', ')', '{', '}', '{lambda(int)#1}', '[', ']', ' ', ', ', 'int', 'A<int>',
          '::', '4', '-', '#', 'é', '.kd', ' = ', '%', '_Z', 'N', '3foo', '6Kernel', 'I', 'L', 'E',
          'i', 'S_', 'St', 'S1', '12', '0', 'operator()', '::operator()', 'Kernel<',
          'Kernel2<ns::g<int>, 3>']


def random_name(dice):
    return dice.choice(['', '', '_Z', '_ZN', '_ZN6KernelI', 'void Kernel<',
                        'ns::']) + ''.join(dice.choice(PIECES) for _ in range(dice.randint(1, 14)))


def by_hand(run):
    agree('the witness', {name: short_form(name) for name in BY_HAND}, BY_HAND)
    names = run.ask("SELECT name, short_name FROM trace_events({x}) WHERE plane_kind = 'gpu'")
    agree('names', {r['name']: r['short_name'].split('#')[0] for r in names}, BY_HAND)
    agree('host events', run.ask("SELECT short_name FROM trace_events({x}) WHERE "
                                 "plane_kind = 'host'"), [{'short_name': 'ns::f<int>()'}])


def of_equal_digits(run, pair, suffix):
    names = run.ask('SELECT kernel_name, short_name FROM kernel_stats({x}, 0)')
    agree('names', {r['kernel_name']: r['short_name'] for r in names}, unique(pair))
    agree('suffixes', [r['short_name'] for r in names
                       if not re.fullmatch('f' + suffix, r['short_name'])], [])


def each(run):
    tried('short_names ' + run.path, check, run)


def made():
    with tempfile.TemporaryDirectory() as top:
        tried('names written by hand', by_hand, profile(os.path.join(top, 'hand'), list(BY_HAND)))
        for what, n_digits, suffix in (('the same 4 digits', 4, '#[0-9a-f]{8}'),
                                       ('the same 8 digits', 8, '#[12]')):
            pair = same_digits(n_digits)
            tried(what, of_equal_digits, profile(os.path.join(top, what), pair[:1], pair[1:]), pair,
                  suffix)
        for seed in seeds(40):
            dice = random.Random(seed)
            run = profile(os.path.join(top, str(seed)), [random_name(dice) for _ in range(150)],
                          [random_name(dice) for _ in range(20)])
            tried('names of seed %d' % seed, check, run)


if __name__ == '__main__':
    main(each, made)
