-- Sizes and paddings of HLO shapes. Expected values are figures of public compiler messages and of
-- the layout rules (bytes padded, bytes plain, both as computed by hand), not our own answers. A
-- line that ends in 0 is a failure.

CREATE TEMP TABLE figures(shape, padded, plain, factor);
INSERT INTO figures VALUES
    ('s32[8388608,8,4]{2,1,0:T(8,128)}', 32 << 30, 1 << 30, 32.0),
    ('bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}', 4 << 30, 1 << 30, 4.0),
    ('u32[12582912,1]{1,0:T(8,128)}', 6 << 30, 48 << 20, 128.0),
    ('pred[64,512,2048]{2,1,0:T(8,128)E(32)}', 256 << 20, 64 << 20, 4.0),
    ('f32[128,3]{1,0:T(8,128)}', 65536, 1536, 42.67),
    ('s4[64,128]{1,0:E(4)}', 4096, 8192, 0.5),
    ('s4[9216,6144]{1,0:T(64,128)(8,1)E(4)}', 9216 * 6144 / 2, 9216 * 6144, 0.5);
SELECT 'figure', shape, padded_bytes(shape) IS padded AND shape_bytes(shape) IS plain
    AND round(1.0 * padded_bytes(shape) / shape_bytes(shape), 2) IS factor FROM figures;

SELECT 'pairs', padding_efficiency(16, 128, 3, 8) IS 0.046875;
SELECT 'pairs exact', padding_efficiency(1024, 128, 128, 8) IS 1.0;
SELECT 'pairs page', padding_efficiency(200, 128) IS 0.78125;
SELECT 'pairs without alignment', padding_efficiency(256, 0, 8, 8) IS 1.0;
SELECT 'pairs empty', padding_efficiency(0, 128) IS NULL;
SELECT 'pairs null', padding_efficiency(16, NULL) IS NULL;
SELECT 'pairs large', padding_efficiency(9223372036854775807, 2) BETWEEN 0.999999 AND 1;
SELECT 'efficiency tile', padding_efficiency('f32[128,3]{1,0:T(8,128)}') IS 3.0 / 128;
SELECT 'efficiency as pairs', padding_efficiency('f32[13,200]{1,0:T(8,128)}')
    IS padding_efficiency(13, 8, 200, 128);
SELECT 'efficiency plain', padding_efficiency('f32[128,3]') IS 1.0;
SELECT 'efficiency packed', padding_efficiency('s4[64,128]{1,0:E(4)}') IS 1.0;
SELECT 'efficiency widened', padding_efficiency('pred[64,512,2048]{2,1,0:T(8,128)E(32)}') IS 0.25;
SELECT 'efficiency tuple',
       padding_efficiency('(f32[8,128]{1,0:T(8,128)}, f32[4,128]{1,0:T(8,128)})') IS 0.75;
SELECT 'efficiency empty', padding_efficiency('f32[0,128]{1,0:T(8,128)}') IS NULL;
SELECT 'efficiency null', padding_efficiency(NULL) IS NULL;

SELECT 'scalar', shape_bytes('f32[]') IS 4 AND shape_elements('f32[]') IS 1
    AND padded_bytes('f32[]') IS 4;
SELECT 'scalar tile', padded_bytes('f32[]{:T(128)}') IS 512;
SELECT 'tuple', shape_bytes('(f32[10]{0}, /*index=1*/ s32[], (pred[3], token[]))') IS 47;
SELECT 'tuple elements', shape_elements('(f32[10]{0}, s32[], (pred[3], token[]))') IS 14;
SELECT 'empty tuple', shape_bytes('()') IS 0;
SELECT 'opaque', shape_bytes('opaque[]') IS 8;
SELECT 'buffer', shape_bytes('b(f32[4]{0})') IS 16;
SELECT 'minor to major', padded_bytes('f32[3,128]{0,1:T(8,128)}') IS 128 * 128 * 4;
SELECT 'more dimensions than the tile', padded_bytes('f32[5,3,100]{2,1,0:T(8,128)}')
    IS 5 * 8 * 128 * 4;
SELECT 'fewer dimensions than the tile', padded_bytes('f32[100]{0:T(8,128)}') IS 8 * 128 * 4;
SELECT 'tail padding', padded_bytes('f32[100]{0:T(8)L(64)}') IS 128 * 4;
SELECT 'tail padding without tile', padded_bytes('f32[100]{0:L(64)}') IS 400;
SELECT 'split', padded_bytes('f32[100,128]{1,0:T(8,128)SC(0:30)}') IS 72 * 128 * 4;
SELECT 'split in three', padded_bytes('f32[100,128]{1,0:T(8,128)SC(0:30,90)}') IS 64 * 128 * 4;
SELECT 'merged dimensions', padded_bytes('f32[3,5,128]{2,1,0:T(*,8,128)}') IS 16 * 128 * 4;
SELECT 'other properties',
       padded_bytes('f32[8,128]{1,0:D(D,C)T(8,128)(2,1)#(u32)*(u8)S(1)P(f32[8]{0})M(4)}') IS 4096;
SELECT 'dynamic', shape_bytes('f32[<=8,4]') IS 128;
SELECT 'unbounded', shape_bytes('f32[?,4]') IS NULL AND padding_efficiency('f32[?,4]') IS NULL;
SELECT 'odd bits', padded_bytes('s4[3]{0:E(4)}') IS 2 AND shape_bytes('f6e3m2fn[3]') IS 3;
SELECT 'widths', sum(shape_bytes(column1 || '[16]') IS NOT 16 * column2) IS 0
    FROM (VALUES ('pred', 1), ('s1', 1), ('s2', 1), ('u4', 1), ('u8', 1),
    ('f8e4m3fn', 1), ('f8e8m0fnu', 1), ('f4e2m1fn', 1), ('bf16', 2), ('f16', 2), ('s16', 2),
    ('u32', 4), ('f64', 8), ('c64', 8), ('c128', 16));
SELECT 'beyond int64', shape_bytes('f32[9223372036854775807]') IS NULL
    AND padded_bytes('f32[3000000000,3000000000]{1,0:T(8,128)}') IS NULL;
SELECT 'null', shape_bytes(NULL) IS NULL AND padded_bytes(NULL) IS NULL
    AND shape_elements(NULL) IS NULL;

SELECT shape_bytes('');
SELECT shape_bytes('f3[2]');
SELECT shape_bytes('f32');
SELECT padded_bytes('f32[2');
SELECT padded_bytes('f32[2]{0');
SELECT padded_bytes('f32[2,3]{0}');
SELECT padded_bytes('f32[2,3]{1,1}');
SELECT padded_bytes('f32[2,3]{1,0:T(0,8)}');
SELECT padded_bytes('f32[2,3]{1,0:Q(8)}');
SELECT padded_bytes('f32[2,3]{1,0} and more');
SELECT shape_elements('f32[-1]');
SELECT shape_elements('f32[99999999999999999999]');
SELECT shape_elements('(f32[1], ');
SELECT padding_efficiency('(f32[1]');
SELECT padding_efficiency(16, 128, 3);
SELECT padding_efficiency(16, 1.5);
SELECT padding_efficiency(-16, 8);
SELECT padding_efficiency();
SELECT shape_bytes(replace(hex(zeroblob(100)), '00', '((') || 'f32[]');
