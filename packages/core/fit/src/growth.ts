import { amountText, type DemandingSpec, demandOf, EVERY_ADDRESS, type HostPort } from './demand.ts'

/** @returns what pods of the one template take of their nodes beyond those of the other, one phrase each: `cpu (500m instead of 100m)` */
export function growthOf(before: DemandingSpec, after: DemandingSpec): readonly string[] {
  const [had, has] = [demandOf(before), demandOf(after)]
  const requests = [...has.requests].flatMap(([name, amount]) => {
    const earlier = had.requests.get(name) ?? 0n
    if (amount <= earlier) return []
    return [`${name} (${amountText(name, amount)}${earlier === 0n ? '' : ` instead of ${amountText(name, earlier)}`})`]
  })
  const hadPorts = new Set(had.hostPorts.map(portKey))
  const isNew = (port: HostPort): boolean => !hadPorts.has(portKey(port)) && !hadPorts.has(portKey({ ...port, ip: EVERY_ADDRESS }))
  return [...requests, ...has.hostPorts.filter(isNew).map(portText)]
}

function portKey({ ip, protocol, port }: HostPort): string {
  return `${port}/${protocol}/${ip}`
}

function portText({ ip, protocol, port }: HostPort): string {
  return `${protocol} port ${port} of the node${ip === EVERY_ADDRESS ? '' : ` on ${ip}`}`
}
