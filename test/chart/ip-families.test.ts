import { describe, expect, it } from 'vitest'
import { programs, render, type Rendered, type Values } from './chart.ts'

const ipv6Only = { listenHost: '::', service: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] } }

describe.skipIf(programs === null)('IP families', () => {
  it('are left to the cluster by default', async () => {
    const services = specsOf(await render({ admission: 'webhook' }), 'Service')
    expect(services).toHaveLength(3)
    expect(services.flatMap((spec) => Object.keys(spec)).filter((key) => key.startsWith('ipFamil'))).toEqual([])
  })

  it('of the values apply to every Service', async () => {
    const service = { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6', 'IPv4'] }
    const services = specsOf(await render({ admission: 'webhook', listenHost: '::', service }), 'Service')
    expect(services).toEqual(Array.from({ length: 3 }, () => expect.objectContaining(service) as object))
  })

  it('with IPv6 alone leave no process listening on IPv4, and no NetworkPolicy naming addresses', async () => {
    for (const values of [ipv6Only, { ...ipv6Only, mode: 'distributed', redis: { url: 'redis://[fd00::5]:6380' } }]) {
      const objects = await render({ ...values, admission: 'webhook', allowHosts: ['[fd00::7]:9090'] })
      const hosts = objects.flatMap((one) => JSON.stringify(one).match(/(?<=--(?:[a-z]+-)?host=)[^",]+/g) ?? [])
      expect(hosts.length).toBeGreaterThan(3)
      expect(hosts.filter((host) => host !== '::' && host !== '[fd00::7]:9090')).toEqual([])
      expect(JSON.stringify(specsOf(objects, 'NetworkPolicy'))).not.toMatch(/ipBlock|\d+\.\d+\.\d+\.\d+/)
    }
  })

  it.each<[string, readonly number[]]>([
    ['redis://[fd00::5]:6380', [6380]],
    ['redis://[fd00::5]', [6379]],
    ['redis+sentinel://user@[fd00::5]:26380,[fd00::6:26381]/main', [26379, 6379, 26380]],
    ['redis+sentinel://s-0:26379,s-1:26380/main', [26379, 6379, 26380]],
  ])('of Redis at %s open only its ports', async (url, ports) => {
    const objects = await render({ mode: 'distributed', redis: { url } })
    const executor = objects.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'tranche-executor')
    const { egress } = executor!.spec as unknown as { readonly egress: readonly { readonly ports: readonly { readonly port: number }[] }[] }
    expect(egress.at(-1)?.ports.map(({ port }) => port)).toEqual(ports)
  })
})

function specsOf(objects: readonly Rendered[], kind: string): readonly Values[] {
  return objects.filter((one) => one.kind === kind).map(({ spec }) => spec as unknown as Values)
}
