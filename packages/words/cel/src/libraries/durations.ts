const units: ReadonlyMap<string, bigint> = new Map(
  Object.entries({
    h: 3_600_000_000_000n,
    m: 60_000_000_000n,
    s: 1_000_000_000n,
    ms: 1_000_000n,
    us: 1_000n,
    µs: 1_000n,
    ns: 1n,
  }),
)

/** @returns nanoseconds of a duration such as `1h30m`; undefined for an invalid text */
export function parseDuration(text: string): bigint | undefined {
  const match = /^([+-]?)((?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|ns))+)$/.exec(text)
  if (match === null) return text === '0' ? 0n : undefined
  let nanos = 0n
  for (const [, whole, fraction = '', unit] of match[2]!.matchAll(/(\d+)(?:\.(\d+))?(h|ms|m|s|us|µs|ns)/g)) {
    const scale = units.get(unit!)!
    nanos += BigInt(whole!) * scale + (fraction === '' ? 0n : (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length))
  }
  return match[1] === '-' ? -nanos : nanos
}
