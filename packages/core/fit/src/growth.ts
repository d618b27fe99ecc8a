import { amountText, type DemandingSpec, demandOf, type HostPort, includesPort } from './demand.ts'

/** @returns what pods of the one template take of their nodes beyond those of the other, one phrase each: `cpu (500m instead of 100m)` */
export function growthOf(before: DemandingSpec, after: DemandingSpec): readonly string[] {
  const [had, has] = [demandOf(before), demandOf(after)]
  const requests = [...has.requests].flatMap(([name, amount]) => {
    const earlier = had.requests.get(name) ?? 0n
    if (amount <= earlier) return []
    return [`${name} (${amountText(name, amount)}${earlier === 0n ? '' : ` instead of ${amountText(name, earlier)}`})`]
  })
  const newPorts = has.hostPorts.filter((port) => !had.hostPorts.some((earlier) => includesPort(earlier, port)))
  return [...requests, ...newPorts.map(portText)]
}

function portText({ ip, protocol, port }: HostPort): string {
  return `${protocol} port ${port} of the node${ip === '0.0.0.0' ? '' : ` on ${ip}`}`
}
