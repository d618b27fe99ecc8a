import { describe, expect, it } from 'vitest'
import { chart, helm, programs, type Values } from './chart.ts'

const unread = /know nothing until Prometheus reads the metrics: set metrics.serviceMonitor.enabled: true/

async function notesOf(values: Values): Promise<string> {
  const { stdout, stderr } = await helm(['install', 'tranche', chart, '--namespace', 'tranche-system', '--dry-run=client'], { values })
  expect(stderr).toBe('')
  return /^NOTES:\n([\s\S]*)/m.exec(stdout)?.[1] ?? ''
}

describe.skipIf(programs === null)('the notes of the chart', { timeout: 120_000 }, () => {
  it('stay in the namespaces of the scope', async () => {
    const notes = await notesOf({ scope: { namespaces: ['agents', 'network'] } })
    expect(notes).toContain('It works on Rollouts of agents and network, and of no other namespace.')
    expect(notes.match(/(?<=namespace: |-n )\S+/g)?.filter((one) => one !== 'tranche-system')).toEqual(['agents', 'agents', 'agents'])
    expect(notes).not.toMatch(/Prometheus|webhook|replicas without/)
  })

  it('tell of one replica that answers the API server, and of roles only where there are any', async () => {
    const notes = await notesOf({ admission: 'webhook', rbac: { create: false } })
    expect(notes).toContain('One replica answers the API server (admission: webhook)')
    expect(notes).toContain('rbac.create: false')
    expect(notes).not.toMatch(/ClusterRoles|and of no other namespace/)
  })

  it('say that no registry has the image, until one is named', async () => {
    expect(await notesOf({})).toMatch(/The image tranche:\S+ is published by no registry/)
    expect(await notesOf({ image: { registry: 'registry.example' } })).not.toMatch(/published/)
  })

  it('list the values without effect where they are let through', async () => {
    const notes = await notesOf({ strictValues: false, executor: { replicas: 3 } })
    expect(notes).toContain('Values without effect (strictValues: false):\n  executor.replicas: mode all-in-one has no such process')
    expect(await notesOf({})).not.toContain('without effect')
  })

  it('tell what Prometheus is not let read', async () => {
    const [rule, monitor, off] = await Promise.all([
      notesOf({ metrics: { prometheusRule: { enabled: true }, dashboard: { enabled: true } } }),
      notesOf({ metrics: { prometheusRule: { enabled: true }, serviceMonitor: { enabled: true } } }),
      notesOf({
        metrics: { enabled: false, dashboard: { enabled: true }, reader: { namespace: 'a', name: 'b' }, serviceMonitor: { enabled: true } },
      }),
    ])
    expect(rule).toMatch(unread)
    expect(monitor).not.toMatch(unread)
    expect(monitor).toMatch(/Prometheus may not read the metrics of the REST API yet: name its account in metrics.reader/)
    expect(off).not.toMatch(/may not read/)
    expect(off).toMatch(/those of the REST API alone: controller and executor tell no metrics/)
  })
})
