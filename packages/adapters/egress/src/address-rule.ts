import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import type { HostRule } from './host-rule.ts'

/** Resolves a name to its addresses, as `dns.lookup` does with `all`. */
export type Resolve = (
  name: string,
  options: LookupOptions & { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** A name resolves to addresses that are never allowed by name. */
export class AddressRefused extends Error {
  /** Message for a person, with the fix. */
  override readonly message: string

  constructor(name: string, address: string) {
    super()
    this.message = `${name} resolves to ${address}, an address of this machine or of its cloud's metadata service; --allow-host ${written(address)} allows it`
  }
}

/**
 * Resolves names for connections and drops addresses that serve this machine alone: loopback, link-local and cloud metadata services, also
 * as IPv4 in IPv6. Otherwise the DNS of an allowed name could choose one (DNS rebinding). The connection uses the address that was checked.
 *
 * @param rules a rule with an explicit address allows it for every name; `localhost` may resolve to loopback
 */
export function lookupOutside(rules: readonly HostRule[], resolve: Resolve = systemLookup): LookupFunction {
  return (name, options, done) => {
    resolve(name, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, [])
      const allowed = addresses.filter(({ address }) => isOutside(name, address, rules))
      const [first] = allowed
      if (first === undefined) return done(new AddressRefused(name, addresses[0]?.address ?? 'no address'), [])
      if (options.all === true) done(null, allowed)
      else done(null, first.address, first.family)
    })
  }
}

function isOutside(name: string, address: string, rules: readonly HostRule[]): boolean {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  if (isLocalhost(name) && loopback.check(address, family)) return true
  if (!loopback.check(address, family) && !inside.check(address, family)) return true
  return rules.some(({ host, isSuffix }) => !isSuffix && host === written(address))
}

function isLocalhost(name: string): boolean {
  return /^(.+\.)?localhost\.?$/i.test(name)
}

/** Formats an address as in a URL. */
function written(address: string): string {
  return isIP(address) === 6 ? new URL(`http://[${address}]`).hostname : address
}

/** Adds IPv4 networks together with the IPv6 networks that map to them: mapped addresses and NAT64. */
function listOf(networks: readonly (readonly [network: string, bits: number])[]): BlockList {
  const list = new BlockList()
  for (const [network, bits] of networks) {
    const isIPv4 = isIP(network) === 4
    list.addSubnet(network, bits, isIPv4 ? 'ipv4' : 'ipv6')
    if (isIPv4) for (const prefix of ['::ffff:', '64:ff9b::']) list.addSubnet(`${prefix}${network}`, 96 + bits, 'ipv6')
  }
  return list
}

const loopback = listOf([
  ['127.0.0.0', 8],
  ['0.0.0.0', 8],
  ['::', 127],
])

const inside = listOf([
  // Link-local, including the metadata services of most clouds.
  ['169.254.0.0', 16],
  ['fe80::', 10],
  // Metadata services: Amazon and Google over IPv6, Alibaba, Oracle, Azure.
  ['fd00:ec2::', 32],
  ['fd20:ce::', 32],
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['168.63.129.16', 32],
])
