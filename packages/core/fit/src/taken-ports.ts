import { type Demand, EVERY_ADDRESS, type HostPort } from './demand.ts'

/** Ports of a node that pods have, found without a look at each pod. */
export class TakenPorts<P extends { readonly demand: Demand }> {
  readonly #byPort = new Map<string, Map<string, Holder<P>>>()
  #count = 0

  /** Adds the ports of a pod. */
  add(pod: P): void {
    const holder: Holder<P> = { pod, order: this.#count++ }
    for (const { ip, protocol, port } of pod.demand.hostPorts) {
      const key = `${port}/${protocol}`
      const byAddress = this.#byPort.get(key) ?? new Map<string, Holder<P>>()
      this.#byPort.set(key, byAddress)
      if (!byAddress.has(ip)) byAddress.set(ip, holder)
    }
  }

  /** @returns the first added pod with which a pod that needs the port cannot run; undefined without one */
  holderOf({ ip, protocol, port }: HostPort): P | undefined {
    const byAddress = this.#byPort.get(`${port}/${protocol}`)
    if (byAddress === undefined) return undefined
    // Addresses stay in the order in which they were added.
    if (ip === EVERY_ADDRESS) return byAddress.values().next().value?.pod
    const [own, every] = [byAddress.get(ip), byAddress.get(EVERY_ADDRESS)]
    if (own === undefined || every === undefined) return (own ?? every)?.pod
    return (own.order < every.order ? own : every).pod
  }
}

interface Holder<P> {
  readonly pod: P
  readonly order: number
}
