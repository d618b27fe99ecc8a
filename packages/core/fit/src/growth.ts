import { amountText, type DemandingSpec, demandOf, EVERY_ADDRESS, type HostPort } from './demand.ts'

/** Maximum number of phrases; more are counted. */
const MOST_PHRASES = 10

/**
 * @returns what pods of the one template take of their nodes beyond those of the other, one phrase each: `cpu (500m instead of 100m)`. Above
 *   ten, the last one is a number: `4 more`
 */
export function growthOf(before: DemandingSpec, after: DemandingSpec): readonly string[] {
  const [had, has] = [demandOf(before), demandOf(after)]
  const requests = [...has.requests].flatMap(([name, amount]) => {
    const earlier = had.requests.get(name) ?? 0n
    if (amount <= earlier) return []
    return [`${name} (${amountText(name, amount)}${earlier === 0n ? '' : ` instead of ${amountText(name, earlier)}`})`]
  })
  const hadPorts = new Set(had.hostPorts.map(portKey))
  const isNew = (port: HostPort): boolean => !hadPorts.has(portKey(port)) && !hadPorts.has(portKey({ ...port, ip: EVERY_ADDRESS }))
  const phrases = [...requests, ...has.hostPorts.filter(isNew).map(portText)]
  const more = phrases.length - MOST_PHRASES
  return more > 0 ? [...phrases.slice(0, MOST_PHRASES), `${more} more`] : phrases
}

function portKey({ ip, protocol, port }: HostPort): string {
  return `${port}/${protocol}/${ip}`
}

function portText({ ip, protocol, port }: HostPort): string {
  return `${protocol} port ${port} of the node${ip === EVERY_ADDRESS ? '' : ` on ${ip}`}`
}
