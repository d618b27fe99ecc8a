import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import type { HostRule } from './host-rule.ts'

/** Resolves a name to its addresses, as `dns.lookup` does with `all`. */
export type Resolve = (
  name: string,
  options: LookupOptions & { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** A name leads to addresses that no name may lead to. */
export class AddressRefused extends Error {
  /** For a person, with the fix. */
  override readonly message: string

  constructor(name: string, address: string) {
    super()
    this.message = `${name} leads to ${address}, an address of this machine or of its cloud's metadata; --allow-host ${written(address)} allows it`
  }
}

/**
 * Resolves names for connections and leaves addresses out that serve this machine alone: loopback, link-local and the metadata services of
 * clouds, also written as IPv4 in IPv6. Whoever answers for an allowed name (DNS rebinding included) would otherwise choose one. The
 * connection is made to the address that was checked.
 *
 * @param rules one that writes an address out allows it for every name; `localhost` may lead to loopback
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

/** As a URL writes it. */
function written(address: string): string {
  return isIP(address) === 6 ? new URL(`http://[${address}]`).hostname : address
}

/** IPv4 networks, by the IPv6 networks that lead to them, too: mapped addresses and NAT64. */
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
  // Link-local, with the metadata services of most clouds.
  ['169.254.0.0', 16],
  ['fe80::', 10],
  // Metadata services: Amazon and Google by IPv6, Alibaba, Oracle, Azure.
  ['fd00:ec2::', 32],
  ['fd20:ce::', 32],
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['168.63.129.16', 32],
])
