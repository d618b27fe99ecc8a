import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentManifest, type Cluster, startCluster } from '../clients/cluster.ts'
import { runProgram } from '../clients/run-program.ts'
import { chart, helm, programs } from './chart.ts'
import { choices } from './values.ts'

const namespace = 'tranche-system'
const tranche = 'apps/launcher/bin/tranche.mjs'

let cluster: Cluster
let running: ChildProcess
let output = ''
/** Port to which the Service of the webhook leads. */
let port = 0

describe.skipIf(programs === null)('the webhook of the chart, called by the API server', () => {
  beforeAll(async () => {
    const resolveService = ({ name }: { readonly name: string }) => (name === 'tranche-webhook' ? { host: '127.0.0.1', port } : undefined)
    cluster = await startCluster(3, { definitions: false, webhooks: { resolveService } })
    const target = ['tranche', chart, '--namespace', namespace, '--create-namespace']
    const installed = await helm(['install', ...target], { ...cluster, values: choices['a webhook']! })
    expect(installed).toMatchObject({ code: 0, stderr: '' })
    await start()
    await said(/"msg":"updated caBundle for the webhook certificate"[\s\S]*"msg":"updated caBundle/)
  })
  afterAll(async () => {
    running.kill()
    await cluster.end()
  })

  it('admits a new template for a release in steps, with only the permissions of the chart', async () => {
    await kubectl(['apply', '-f', '-'], JSON.stringify(agentManifest('v1')))
    await kubectl(['apply', '-f', '-'], JSON.stringify(rollout('agent')))
    await kubectl(['wait', 'rollout/agent', '--for=jsonpath={.status.phase}=Healthy', '--timeout=30s'])
    expect(await strategy()).toBe('RollingUpdate')
    await kubectl(['set', 'image', 'daemonset/agent', 'main=agent:v2'])
    expect(await strategy()).toBe('OnDelete')
    await kubectl(['wait', 'rollout/agent', '--for=jsonpath={.status.canaryStatus.currentStepState}=StepPaused', '--timeout=30s'])
    expect((await kubectl(['get', 'daemonset/agent', '-o', 'jsonpath={.status.updatedNumberScheduled}'])).stdout).toBe('1')
  })

  it('warns a user who sets RollingUpdate in mid-release, and keeps OnDelete', async () => {
    const { stderr } = await kubectl(['apply', '-f', '-'], JSON.stringify(agentManifest('v2')))
    const native = { spec: { updateStrategy: { type: 'RollingUpdate' } } }
    const patched = await kubectl(['patch', 'daemonset/agent', '--patch', JSON.stringify(native)])
    expect(stderr + patched.stderr).toContain(
      'Warning: spec.updateStrategy.type stays OnDelete while the Rollout agent controls this DaemonSet',
    )
    expect(await strategy()).toBe('OnDelete')
  })

  it('rejects a Rollout that cannot be released, and warns about one for another workload', async () => {
    const wrong = { ...rollout('wrong'), spec: { ...rollout('wrong').spec, strategy: { canary: { steps: [] } } } }
    const refused = await kubectl(['apply', '-f', '-'], JSON.stringify(wrong), 1)
    expect(refused.stderr).toContain(
      'The Rollout "wrong" is invalid: spec.strategy.canary.steps: Invalid value: []: a release needs at least one step',
    )
    const workloadRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
    const others = await kubectl(['apply', '-f', '-'], JSON.stringify({ ...rollout('web'), spec: { ...rollout('web').spec, workloadRef } }))
    expect(others.stderr).toContain('Tranche releases only DaemonSets of apps/v1')
  })

  it('passes the doctor, and fails it if its caBundle is removed', async () => {
    const looks = async () => {
      const { stdout } = await runProgram(process.execPath, [tranche, 'doctor', '--kubeconfig', cluster.kubeconfig, '-o', 'json'])
      const findings = JSON.parse(stdout) as readonly { readonly check: string; readonly state: string; readonly message: string }[]
      return findings.find(({ check }) => check === 'webhook')
    }
    expect(await looks()).toMatchObject({
      state: 'ok',
      message: expect.stringContaining('the API server trusts the certificate in the Secret tranche-system/tranche-webhook') as string,
    })
    running.kill()
    await new Promise((resolve) => running.once('close', resolve))
    expect(running.exitCode).toBe(0)
    const noAuthority = [{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }]
    await kubectl(['patch', 'mutatingwebhookconfiguration', 'tranche', '--type', 'json', '--patch', JSON.stringify(noAuthority)])
    expect(await looks()).toMatchObject({
      state: 'problem',
      message: 'MutatingWebhookConfiguration tranche trusts no certificate authority (caBundle is empty)',
    })
  })

  it('is down with every process of Tranche: a new template is rejected, and other requests still work (X21)', async () => {
    const refused = await kubectl(['set', 'image', 'daemonset/agent', 'main=agent:v3'], '', 1)
    expect(refused.stderr).toContain('failed calling webhook "daemonsets.admission.tranche.dev"')
    await kubectl(['label', 'daemonset/agent', 'team=a'])
    const free = { ...agentManifest('v1'), metadata: { name: 'free', namespace: 'default' } }
    await kubectl(['apply', '-f', '-'], JSON.stringify(free))
    await kubectl(['set', 'image', 'daemonset/free', 'main=agent:v2'])
  })

  it('has logged no problem', () => expect(output).not.toMatch(/"level":"(warn|error)"|Forbidden/))
})

function rollout(name: string) {
  return {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: { name, namespace: 'default' },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      strategy: { canary: { steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] } },
    },
  }
}

/** Runs the container of the Deployment with its account; addresses and ports are those of this machine. */
async function start(): Promise<void> {
  const { stdout } = await kubectl([
    'get',
    'deployment/tranche',
    '-n',
    namespace,
    '-o',
    'jsonpath={.spec.template.spec.containers[0].args}',
  ])
  const args = (JSON.parse(stdout) as readonly string[]).map((arg) =>
    arg.replace(/-host=0\.0\.0\.0$/, '-host=127.0.0.1').replace(/-port=\d+$/, '-port=0'),
  )
  const token = (await kubectl(['create', 'token', 'tranche', '-n', namespace])).stdout.trim()
  const config = JSON.parse(readFileSync(cluster.kubeconfig, 'utf8')) as object
  const kubeconfig = join(cluster.folder, 'account')
  writeFileSync(kubeconfig, JSON.stringify({ ...config, users: [{ name: 'admin', user: { token } }] }))
  running = spawn(process.execPath, [tranche, ...args, '--kubeconfig', kubeconfig], { stdio: ['ignore', 'ignore', 'pipe'] })
  running.stderr!.on('data', (chunk) => (output += String(chunk)))
  const line = await said(/"url":"(https:[^"]+)"[^\n]*"msg":"started"/)
  port = Number(new URL(line[1]!).port)
}

function said(text: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const found = text.exec(output)
      if (found !== null) resolve(found)
    }
    running.stderr!.on('data', look)
    running.once('close', () => reject(new Error(`ended before it said ${text}:\n${output}`)))
    look()
  })
}

async function strategy(): Promise<string> {
  return (await kubectl(['get', 'daemonset/agent', '-o', 'jsonpath={.spec.updateStrategy.type}'])).stdout
}

async function kubectl(args: readonly string[], input = '', code = 0) {
  const ended = await runProgram(programs!.kubectl, ['--kubeconfig', cluster.kubeconfig, ...args], { input })
  if (ended.code !== code) throw new Error(`kubectl ${args.join(' ')}: ${ended.code} ${ended.stdout}${ended.stderr}\n${output}`)
  return ended
}
