import { describe, expect, it } from 'vitest'
import { chart, helm, programs, type Values } from './chart.ts'

const unread = /have no data until Prometheus scrapes the metrics: set metrics.serviceMonitor.enabled: true/

async function notesOf(values: Values): Promise<string> {
  const { stdout, stderr } = await helm(['install', 'tranche', chart, '--namespace', 'tranche-system', '--dry-run=client'], { values })
  expect(stderr).toBe('')
  return /^NOTES:\n([\s\S]*)/m.exec(stdout)?.[1] ?? ''
}

describe.skipIf(programs === null)('the notes of the chart', () => {
  it('name only the namespaces of the scope', async () => {
    const notes = await notesOf({ scope: { namespaces: ['agents', 'network'] } })
    expect(notes).toContain('It handles Rollouts in agents and network, and in no other namespace.')
    expect(notes.match(/(?<=namespace: |-n )\S+/g)?.filter((one) => one !== 'tranche-system')).toEqual(['agents', 'agents', 'agents'])
    expect(notes).not.toMatch(/Prometheus|webhook|replicas without/)
  })

  it('warn about a single webhook replica, and name roles only if the chart creates them', async () => {
    const notes = await notesOf({ admission: 'webhook', rbac: { create: false } })
    expect(notes).toContain('Only one replica serves the webhook (admission: webhook)')
    expect(notes).toContain('rbac.create: false')
    expect(notes).not.toMatch(/ClusterRoles|and in no other namespace/)
  })

  it('say how browsers reach the dashboard', async () => {
    const httpRoute = { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['a.example', 'b.example'] }
    const [none, ingress, route] = await Promise.all([
      notesOf({}),
      notesOf({ api: { ingress: { enabled: true, host: 'a.example' } } }),
      notesOf({ api: { ingress: { enabled: true, host: 'a.example' }, httpRoute } }),
    ])
    expect(none).toContain('the dashboard (at /dashboard/)')
    expect(none).toContain('set api.ingress or api.httpRoute')
    expect(ingress).toContain('Browsers reach it at a.example.\n')
    expect(route).toContain('Browsers reach it at a.example, b.example.\n')
    expect(ingress + route).not.toContain('set api.ingress')
    expect(await notesOf({ api: { enabled: false } })).not.toContain('dashboard')
  })

  it('say that no registry has the image, unless a registry is set', async () => {
    expect(await notesOf({})).toMatch(/The image tranche:\S+ is not published in a registry/)
    expect(await notesOf({ image: { registry: 'registry.example' } })).not.toMatch(/published/)
  })

  it('say that an image without a registry must not always be pulled, and one that is never pulled must be there', async () => {
    const [always, loaded, never] = await Promise.all([
      notesOf({ image: { pullPolicy: 'Always' } }),
      notesOf({}),
      notesOf({ image: { registry: 'images.internal', pullPolicy: 'Never' } }),
    ])
    expect(always).toContain('set image.pullPolicy: IfNotPresent')
    expect(loaded).not.toContain('pullPolicy')
    expect(never).toContain('Pods start only on nodes that have the image images.internal/tranche:0.1.0')
  })

  it('name values with host names of the documentation', async () => {
    const placeholders = {
      image: { registry: 'registry.example:5000/platform' },
      mode: 'distributed',
      redis: { url: 'rediss://tranche@redis.example.com:6380' },
      tracing: { endpoint: 'http://collector.counterexample.com:4318' },
    }
    expect(await notesOf(placeholders)).toContain('replace the values of image.registry, redis.url.\n')
    expect(await notesOf({})).not.toContain('documentation')
  })

  it('say what is off', async () => {
    const [off, on] = await Promise.all([
      notesOf({}),
      notesOf({ admission: 'webhook', allInOne: { replicas: 2 }, allowHosts: ['prometheus.monitoring'] }),
    ])
    expect(off).toContain('says RollingUpdate. Set admission: policy.\n')
    expect(off).toContain('reach no host (allowHosts: [])')
    expect(on).not.toMatch(/RollingUpdate|reach no host/)
  })

  it('warn about tokens in clear text, and about definitions that an uninstall deletes', async () => {
    const service = { type: 'LoadBalancer' }
    const [plain, tls] = await Promise.all([
      notesOf({ api: { service }, crds: { keep: false } }),
      notesOf({ api: { service, tls: { secret: 'tls' } } }),
    ])
    expect(plain).toContain('serves plain HTTP (api.service.type: LoadBalancer)')
    expect(plain).toContain('all Rollouts of the cluster (crds.keep: false)')
    expect(tls).not.toMatch(/clear text|crds/)
  })

  it('list the values without effect if strictValues is false', async () => {
    const notes = await notesOf({ strictValues: false, executor: { replicas: 3 } })
    expect(notes).toContain('Values without effect (strictValues: false):\n  executor.replicas: mode all-in-one has no such process')
    expect(await notesOf({})).not.toContain('without effect')
  })

  it('say which metrics Prometheus cannot read', async () => {
    const [rule, monitor, off] = await Promise.all([
      notesOf({ metrics: { prometheusRule: { enabled: true }, dashboard: { enabled: true } } }),
      notesOf({ metrics: { prometheusRule: { enabled: true }, serviceMonitor: { enabled: true } } }),
      notesOf({
        metrics: { enabled: false, dashboard: { enabled: true }, reader: { namespace: 'a', name: 'b' }, serviceMonitor: { enabled: true } },
      }),
    ])
    expect(rule).toMatch(unread)
    expect(monitor).not.toMatch(unread)
    expect(monitor).toMatch(/Prometheus is not allowed to read the metrics of the REST API yet: set metrics.reader to its ServiceAccount/)
    expect(off).not.toMatch(/not allowed to read/)
    expect(off).toMatch(/cover only the REST API: controller and executor serve no metrics/)
  })
})
