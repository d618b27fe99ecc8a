import type { Environment } from '@marcbachmann/cel-js'

/** A Kubernetes quantity, exact; `scaled` is in billionths. */
export class Quantity {
  readonly scaled: bigint

  constructor(scaled: bigint) {
    this.scaled = scaled
  }
}

/** `quantity`, `isQuantity` and their methods. */
export function registerQuantities(environment: Environment): void {
  environment
    .registerType('Quantity', { ctor: Quantity, fields: {} })
    .registerFunction('quantity(string): Quantity', parse)
    .registerFunction('isQuantity(string): bool', (text: string) => scaledOf(text) !== undefined)
    .registerFunction('Quantity.isInteger(): bool', (one: Quantity) => one.scaled % SCALE === 0n && fits(one.scaled / SCALE))
    .registerFunction('Quantity.asInteger(): int', asInteger)
    .registerFunction('Quantity.asApproximateFloat(): double', (one: Quantity) => Number(one.scaled) / Number(SCALE))
    .registerFunction('Quantity.sign(): int', (one: Quantity) => signOf(one.scaled))
    .registerFunction('Quantity.isGreaterThan(Quantity): bool', (one: Quantity, other: Quantity) => one.scaled > other.scaled)
    .registerFunction('Quantity.isLessThan(Quantity): bool', (one: Quantity, other: Quantity) => one.scaled < other.scaled)
    .registerFunction('Quantity.compareTo(Quantity): int', (one: Quantity, other: Quantity) => signOf(one.scaled - other.scaled))
    .registerFunction('Quantity.add(Quantity): Quantity', (one: Quantity, other: Quantity) => new Quantity(one.scaled + other.scaled))
    .registerFunction('Quantity.add(int): Quantity', (one: Quantity, other: bigint) => new Quantity(one.scaled + other * SCALE))
    .registerFunction('Quantity.sub(Quantity): Quantity', (one: Quantity, other: Quantity) => new Quantity(one.scaled - other.scaled))
    .registerFunction('Quantity.sub(int): Quantity', (one: Quantity, other: bigint) => new Quantity(one.scaled - other * SCALE))
    .registerOperator('Quantity == Quantity', (one: Quantity, other: Quantity) => one.scaled === other.scaled)
}

const SCALE = 1_000_000_000n

const suffixes: ReadonlyMap<string, bigint> = new Map(
  Object.entries({
    n: 1n,
    u: 1_000n,
    m: 1_000_000n,
    '': SCALE,
    ...Object.fromEntries(['k', 'M', 'G', 'T', 'P', 'E'].map((suffix, index) => [suffix, SCALE * 1000n ** BigInt(index + 1)])),
    ...Object.fromEntries(['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((suffix, index) => [suffix, SCALE * 1024n ** BigInt(index + 1)])),
  }),
)

function parse(text: string): Quantity {
  const scaled = scaledOf(text)
  if (scaled !== undefined) return new Quantity(scaled)
  throw new Error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
}

function scaledOf(text: string): bigint | undefined {
  const match = /^([+-]?)(\d+\.?\d*|\.\d+)([eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i)?$/.exec(text)
  if (match === null) return undefined
  const [, sign, digits = '', suffix = ''] = match
  const [whole = '', fraction = ''] = digits.split('.')
  const exponent = /^[eE]([+-]?\d+)$/.exec(suffix)
  const unscaled = BigInt(`${whole}${fraction}` || '0') * (exponent === null ? suffixes.get(suffix)! : SCALE)
  const power = (exponent === null ? 0 : Number(exponent[1])) - fraction.length
  if (Math.abs(power) > 100) return undefined
  const scaled = power >= 0 ? unscaled * 10n ** BigInt(power) : divideUp(unscaled, 10n ** BigInt(-power))
  return sign === '-' ? -scaled : scaled
}

/** Fractions of a billionth are rounded up. */
function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}

function fits(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value
}

function asInteger({ scaled }: Quantity): bigint {
  if (scaled % SCALE === 0n && fits(scaled / SCALE)) return scaled / SCALE
  throw new Error('cannot convert value to integer')
}

function signOf(value: bigint): bigint {
  return value > 0n ? 1n : value < 0n ? -1n : 0n
}
