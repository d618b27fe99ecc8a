import type { Node } from '@tranche/kube-types'

/** Second byte of the first address of each range; each range has four million addresses. */
const RANGES = { node: 192, pod: 64 } as const

/** @returns function that returns a new IPv4 address from `10.64.0.0/10` (pods) or `10.192.0.0/10` (nodes) on each call */
export function createAddresses(): (range: keyof typeof RANGES) => string {
  let given = 0
  return (range) => {
    const number = ++given
    return `10.${RANGES[range] + ((number >> 16) & 63)}.${(number >> 8) & 255}.${number & 255}`
  }
}

/** @returns internal address in the node's status */
export function addressOf(node: Node): string | undefined {
  const { addresses } = (node.status ?? {}) as { readonly addresses?: readonly { readonly type: string; readonly address: string }[] }
  return addresses?.find(({ type }) => type === 'InternalIP')?.address
}
