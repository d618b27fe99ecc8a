import { certificatesIn, whyUnusable, type Certificate } from '@tranche/certificates'
import { FakeClock, systemClock } from '@tranche/clock'
import { createKubeClient, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator } from '@tranche/sim'
import { describe, expect, it } from 'vitest'
import { createCertificateLook } from '../src/webhook/certificate-keeper.ts'
import { createCertificatePort } from '../src/webhook/certificate-port.ts'

const DAY_MS = 24 * 3_600_000
const NAME = 'tranche-webhook.tranche-system.svc'
const secret = { namespace: 'tranche-system', name: 'tranche-webhook' }
const { signal } = new AbortController()

describe('webhook certificates', () => {
  it('are created by the leader, trusted by both configurations, and served by every replica', async () => {
    const { leader, other, bundles } = await setUp()
    expect(await leader.settled()).toBe(15_000)
    await other.look(signal)
    expect(other.serves()).toEqual(leader.serves())
    expect(whyUnusable(other.serves()!, { authorities: (await bundles())[0]!, names: [NAME], nowMs: Date.now() })).toBeNull()
    expect(new Set(await bundles()).size).toBe(1)
  })

  it('are renewed a month before expiry, and every served certificate is trusted at all times', async () => {
    const { clock, leader, other, bundles } = await setUp()
    await leader.settled()
    await other.look(signal)
    const first = leader.serves()!
    clock.advance(61 * DAY_MS)
    for (let looks = 0; looks < 20 && leader.serves() === first; looks++) {
      const inMs = await leader.look(signal)
      for (const bundle of await bundles())
        for (const pair of [leader.serves()!, other.serves()!])
          expect(whyUnusable(pair, { authorities: bundle, names: [NAME], nowMs: clock.nowMs() })).toBeNull()
      clock.advance(inMs === 1_000 ? 30_000 : inMs)
    }
    expect(leader.serves()).not.toEqual(first)
    await other.look(signal)
    expect(other.serves()).toEqual(leader.serves())
    expect(certificatesIn((await bundles())[0]!)).toHaveLength(2)
  })

  it('are served only after they have been trusted for a minute', async () => {
    const { clock, leader } = await setUp()
    await leader.settled()
    const first = leader.serves()
    clock.advance(61 * DAY_MS)
    await leader.settled()
    clock.advance(59_000)
    expect(await leader.look(signal)).toBe(1_000)
    expect(leader.serves()).toBe(first)
    clock.advance(1_000)
    await leader.settled()
    expect(leader.serves()).not.toEqual(first)
  })

  it.each<[string, (setting: Setting) => Promise<void>]>([
    ['have expired while no replica led', async ({ clock }) => clock.advance(100 * DAY_MS)],
    ['have been deleted', ({ clear }) => clear()],
    ['are for another Service', async ({ rename }) => rename('other.tranche-system.svc')],
  ])('are created again at once if they %s', async (_what, spoil) => {
    const setting = await setUp()
    await setting.leader.settled()
    const first = setting.leader.serves()
    await spoil(setting)
    await setting.leader.settled()
    expect(setting.leader.serves()).not.toEqual(first)
    const trust = { authorities: (await setting.bundles())[0]!, names: [setting.name()], nowMs: setting.clock.nowMs() }
    expect(whyUnusable(setting.leader.serves()!, trust)).toBeNull()
  })

  it('are trusted again after another program removed the caBundle', async () => {
    const { leader, bundles, distrust } = await setUp()
    await leader.settled()
    const before = await bundles()
    await distrust()
    expect(await bundles()).not.toEqual(before)
    await leader.settled()
    expect(await bundles()).toEqual(before)
  })

  it('end up as one pair if two replicas lead at a time', async () => {
    const { leader, other, bundles } = await setUp({ bothLead: true })
    await Promise.allSettled([leader.look(signal), other.look(signal)])
    await leader.settled()
    await other.settled()
    await leader.settled()
    expect(other.serves()).toEqual(leader.serves())
    expect(new Set(await bundles()).size).toBe(1)
  })

  it('are not written by replicas that do not lead', async () => {
    const { other } = await setUp()
    expect(await other.look(signal)).toBe(1_000)
    expect(other.serves()).toBeNull()
  })

  it.each<[string, object, string]>([
    ['the Secret', { withSecret: false }, 'there is no Secret tranche-system/tranche-webhook'],
    ['a configuration', { withConfigurations: false }, 'the MutatingWebhookConfiguration or ValidatingWebhookConfiguration is missing'],
  ])('fail with an error if %s is missing', async (_what, without, says) => {
    const { leader } = await setUp(without)
    await expect(leader.settled()).rejects.toThrow(says)
  })
})

type Setting = Awaited<ReturnType<typeof setUp>>

async function setUp({ withSecret = true, withConfigurations = true, bothLead = false } = {}) {
  const clock = new FakeClock(Date.now())
  const simulator = createSimulator({ clock: systemClock, nodes: 0 })
  const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock: systemClock, userAgent: 'test/1', log: silentLogger })
  const validating = { ...resourcePaths.mutatingWebhookConfigurations, plural: 'validatingwebhookconfigurations' }
  const resources = [resourcePaths.mutatingWebhookConfigurations, validating]
  const common = { admissionReviewVersions: ['v1'], sideEffects: 'None', clientConfig: { service: secret } }
  const webhooks = ['a.tranche.dev', 'b.tranche.dev'].map((name) => ({ name, ...common }))
  await client.create(resourcePaths.namespaces, { metadata: { name: secret.namespace } })
  if (withSecret) await client.create(resourcePaths.secrets, { metadata: { ...secret } })
  if (withConfigurations)
    for (const resource of resources) await client.create(resource, { metadata: { name: 'tranche' }, webhooks } as never)
  let name = NAME

  function keeper(identity: string, leads: boolean) {
    const exchange = simulator.exchangeFor(identity)
    const port = createCertificatePort(
      createKubeClient({ exchange, clock: systemClock, userAgent: 'tranche-controller/1', log: silentLogger }),
      { secret, configuration: 'tranche' },
    )
    let serves: Certificate | null = null
    const look = (aborted: AbortSignal): Promise<number> => own(aborted)
    let own = fresh()
    function fresh() {
      return createCertificateLook({
        ...{ port, clock, log: silentLogger, secret: 'tranche-system/tranche-webhook', names: [name] },
        isLeading: () => leads,
        onCertificate: (certificate) => void (serves = certificate),
      })
    }
    return {
      look,
      serves: () => serves as Certificate | null,
      begin: () => void (own = fresh()),
      /** Checks until nothing is left to do. @returns delay until the next check, in milliseconds */
      async settled(): Promise<number> {
        for (let looks = 0; looks < 20; looks++) {
          const inMs = await own(signal)
          if (inMs !== 0) return inMs
        }
        throw new Error('the checks do not come to an end')
      },
    }
  }

  const leader = keeper('leader', true)
  return {
    clock,
    leader,
    other: keeper('other', bothLead),
    name: () => name,
    rename(next: string) {
      name = next
      leader.begin()
    },
    async bundles(): Promise<readonly string[]> {
      const found = await Promise.all(resources.map((resource) => client.get<Configuration>(resource, { namespace: '', name: 'tranche' })))
      return found.flatMap((one) => one.webhooks.map(({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()))
    },
    async distrust() {
      await client.patch(resources[1]!, { namespace: '', name: 'tranche' }, { type: 'merge', body: { webhooks } })
    },
    async clear() {
      await client.patch(resourcePaths.secrets, secret, { type: 'merge', body: { data: null } })
    },
  }
}

interface Configuration {
  readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[]
}
