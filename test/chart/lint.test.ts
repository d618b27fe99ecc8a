import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Ended, runProgram } from '../clients/run-program.ts'
import { helm, programs } from './chart.ts'

const overlays = 'examples/gitops/repository/agents/node-agent/clusters'
let folder: string

describe.skipIf(programs === null)('tranche lint -f -', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tranche-lint-'))
    mkdirSync(join(folder, 'chart/templates'), { recursive: true })
    for (const [name, text] of Object.entries(chartOfAgent)) writeFileSync(join(folder, 'chart', name), text)
    mkdirSync(join(folder, 'overlay'))
    writeFileSync(join(folder, 'overlay/kustomization.yaml'), overlay)
    writeFileSync(join(folder, 'overlay/agent.yaml'), `${daemonSet}---${rollout}`)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(['staging', 'production'])('accepts the output of kubectl kustomize for the example: %s', async (name) => {
    const { code, stdout } = await lint(await kustomize(`${overlays}/${name}`))
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d objects checked in \d documents: no problems/) as string,
    })
  })

  it('finds a mistake of a kustomize overlay', async () => {
    const { code, stdout } = await lint(await kustomize(join(folder, 'overlay')), '-o', 'json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject([
      {
        path: 'spec.strategy.canary.steps[1].replicas',
        value: '5%',
        fix: 'set it to at least "10%", or make steps[0] smaller',
        level: 'problem',
      },
      // A prefix applies to names of objects, but not to references in custom resources.
      { path: 'spec.workloadRef.name', value: 'agent', rule: 'WorkloadAbsent', level: 'advice' },
      { rule: 'LastStepBelowAll', level: 'advice' },
    ])
  })

  it('accepts the output of helm template, and finds a mistake in a value', async () => {
    const good = await rendered({ last: '100%' })
    await expect(lint(good)).resolves.toMatchObject({ code: 0, stdout: '2 objects checked in 3 documents: no problems\n' })
    const bad = await lint(await rendered({ last: 'most' }), '-o', 'json')
    expect(bad.code).toBe(1)
    expect(JSON.parse(bad.stdout)).toMatchObject([{ path: 'spec.strategy.canary.steps[1].replicas', value: 'most', level: 'problem' }])
  })
})

const daemonSet = `
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent, namespace: demo }
spec:
  selector: { matchLabels: { app: agent } }
  updateStrategy: { type: OnDelete }
  template:
    metadata: { labels: { app: agent } }
    spec: { containers: [{ name: agent, image: "agent:v1" }] }
`
const rollout = `
apiVersion: rollouts.kruise.io/v1beta1
kind: Rollout
metadata: { name: agent, namespace: demo }
spec:
  workloadRef: { apiVersion: apps/v1, kind: DaemonSet, name: agent }
  strategy:
    canary:
      steps:
        - { replicas: 10%, pause: {} }
        - { replicas: 100% }
`
const overlay = `
resources: [agent.yaml]
namePrefix: edge-
patches:
  - target: { kind: Rollout }
    patch: '[{ "op": "replace", "path": "/spec/strategy/canary/steps/1/replicas", "value": "5%" }]'
`
const chartOfAgent = {
  'Chart.yaml': 'apiVersion: v2\nname: agent\nversion: 1.0.0\n',
  'templates/agent.yaml': daemonSet,
  'templates/config.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: agent, namespace: demo }\n',
  'templates/rollout.yaml': rollout.replace('replicas: 100%', 'replicas: {{ .Values.last | quote }}'),
}

async function kustomize(directory: string): Promise<string> {
  return said(await runProgram(programs!.kubectl, ['kustomize', directory]))
}

async function rendered(values: Readonly<Record<string, string>>): Promise<string> {
  return said(await helm(['template', 'agent', join(folder, 'chart')], { values }))
}

function said({ code, stdout, stderr }: Ended): string {
  if (code !== 0) throw new Error(stderr)
  return stdout
}

function lint(input: string, ...args: readonly string[]): Promise<Ended> {
  return runProgram(process.execPath, ['apps/launcher/bin/tranche.mjs', 'lint', '-f', '-', ...args], { input })
}
