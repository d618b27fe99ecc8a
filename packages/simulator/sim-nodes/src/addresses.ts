import type { Node } from '@tranche/kube-types'

/** Second byte of the first address of each range; both ranges hold four million. */
const RANGES = { node: 192, pod: 64 } as const

/** @returns gives an IPv4 address from `10.64.0.0/10` (pods) or `10.192.0.0/10` (nodes), another one each time */
export function createAddresses(): (range: keyof typeof RANGES) => string {
  let given = 0
  return (range) => {
    const number = ++given
    return `10.${RANGES[range] + ((number >> 16) & 63)}.${(number >> 8) & 255}.${number & 255}`
  }
}

/** @returns the internal address that the node says it has */
export function addressOf(node: Node): string | undefined {
  const { addresses } = (node.status ?? {}) as { readonly addresses?: readonly { readonly type: string; readonly address: string }[] }
  return addresses?.find(({ type }) => type === 'InternalIP')?.address
}
