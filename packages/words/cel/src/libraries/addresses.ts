import type { Environment } from '@marcbachmann/cel-js'

/** An IP address as a number. */
class Ip {
  readonly family: bigint
  readonly value: bigint

  constructor(family: 4 | 6, value: bigint) {
    this.family = BigInt(family)
    this.value = value
  }
}

/** A range of addresses. */
class Cidr {
  readonly ip: Ip
  readonly length: number

  constructor(ip: Ip, length: number) {
    this.ip = ip
    this.length = length
  }
}

/** `ip`, `isIP`, `cidr`, `isCIDR` and their methods. */
export function registerAddresses(environment: Environment): void {
  environment
    .registerType('IP', { ctor: Ip, fields: {} })
    .registerType('CIDR', { ctor: Cidr, fields: {} })
    .registerFunction(
      'ip(string): IP',
      (text: string) => ipOf(text) ?? fail(`IP Address ${JSON.stringify(text)} parse error during conversion from string`),
    )
    .registerFunction('isIP(string): bool', (text: string) => ipOf(text) !== undefined)
    .registerFunction('IP.family(): int', ({ family }: Ip) => family)
    .registerFunction('IP.isLoopback(): bool', ({ family, value }: Ip) => (family === 4n ? value >> 24n === 127n : value === 1n))
    .registerFunction('IP.isUnspecified(): bool', ({ value }: Ip) => value === 0n)
    .registerOperator('IP == IP', (one: Ip, other: Ip) => one.family === other.family && one.value === other.value)
    .registerFunction(
      'cidr(string): CIDR',
      (text: string) =>
        cidrOf(text) ?? fail(`network address parse error during conversion from string: network address ${JSON.stringify(text)}`),
    )
    .registerFunction('isCIDR(string): bool', (text: string) => cidrOf(text) !== undefined)
    .registerFunction('CIDR.containsIP(string): bool', (range: Cidr, text: string) => {
      const ip = ipOf(text)
      return ip === undefined ? fail(`IP Address ${JSON.stringify(text)} parse error during conversion from string`) : contains(range, ip)
    })
    .registerFunction('CIDR.containsIP(IP): bool', contains)
    .registerFunction(
      'CIDR.containsCIDR(CIDR): bool',
      (range: Cidr, other: Cidr) => other.length >= range.length && contains(range, other.ip),
    )
    .registerFunction('CIDR.ip(): IP', ({ ip }: Cidr) => ip)
    .registerFunction('CIDR.prefixLength(): int', ({ length }: Cidr) => BigInt(length))
}

function fail(text: string): never {
  throw new Error(text)
}

function contains({ ip, length }: Cidr, other: Ip): boolean {
  if (ip.family !== other.family) return false
  const shift = BigInt((ip.family === 4n ? 32 : 128) - length)
  return ip.value >> shift === other.value >> shift
}

function cidrOf(text: string): Cidr | undefined {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text)
  const ip = match === null ? undefined : ipOf(match[1]!)
  const length = Number(match?.[2])
  return ip === undefined || length > (ip.family === 4n ? 32 : 128) ? undefined : new Cidr(ip, length)
}

function ipOf(text: string): Ip | undefined {
  if (text.includes(':')) return ip6Of(text)
  const value = ip4Value(text)
  return value === undefined ? undefined : new Ip(4, value)
}

function ip4Value(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return undefined
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n)
}

function ip6Of(text: string): Ip | undefined {
  const [head = '', tail, ...more] = text.split('::')
  if (more.length > 0) return undefined
  const words = (part: string): readonly string[] => (part === '' ? [] : part.split(':'))
  const [left, right] = [words(head), words(tail ?? '')]
  const missing = 8 - left.length - right.length
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  const all = [...left, ...Array.from({ length: missing }, () => '0'), ...right]
  if (!all.every((word) => /^[0-9a-f]{1,4}$/i.test(word))) return undefined
  return new Ip(
    6,
    all.reduce((value, word) => (value << 16n) | BigInt(`0x${word}`), 0n),
  )
}
