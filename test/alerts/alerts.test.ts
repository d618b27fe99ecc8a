import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { promtoolFile } from './promtool-file.ts'
import { stories } from './stories.ts'

const reported = new Set(stories.flatMap(({ alert }) => alert ?? []))

describe('every alert', () => {
  it('of the chart has a story that fires it, and every story has an alert', () => {
    const rules = readFileSync('charts/tranche/templates/prometheus-rule.yaml', 'utf8')
    expect([...reported].toSorted()).toEqual([...new Set([...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name ?? ''))].toSorted())
  })
})

describe('the file for promtool', () => {
  it('has a value for each minute, none before the first, and an end where a series is no longer exported', () => {
    const target = { job: 'tranche-metrics', instance: 'a' }
    const looks = [null, 'tranche_leader 1\n', 'tranche_rollouts{phase="Healthy"} 2\n'].map((text, atMinute) => ({
      atMinute,
      targets: [{ ...target, text }],
    }))
    const file = promtoolFile('rules.yaml', { looks, alert: null })
    const on = 'job="tranche-metrics", instance="a", namespace="tranche-system"'
    expect(file).toContain(`series: up{${on}}\n        values: 0 1 1\n`)
    expect(file).toContain(`series: tranche_leader{${on}}\n        values: _ 1 stale\n`)
    expect(file).toContain(`series: tranche_rollouts{phase="Healthy", ${on}}\n        values: _ _ 2\n`)
  })
})
