import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { resources } from '@tranche/sim-api'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { agentManifest, agentRollout, type Cluster, startCluster } from './cluster.ts'
import { runProgram } from './run-program.ts'

/** Commands that start a shell without the user's configuration and set up completion in it. */
const shells: Readonly<Record<string, { readonly start: string; readonly setUp: (script: string) => string }>> = {
  bash: { start: 'bash --norc --noprofile -i', setUp: (script) => `source ${script}` },
  zsh: { start: 'zsh -f -i', setUp: (script) => `autoload -U compinit; compinit -u -D; source ${script}` },
  fish: { start: 'fish --no-config -i', setUp: (script) => `source ${script}` },
}
const hasTerminals = process.platform === 'linux' && isOnPath('script')
const installed = Object.keys(shells).filter((shell) => hasTerminals && isOnPath(shell))
if (!installed.includes('bash') && process.env['CI'] !== undefined)
  throw new Error('bash, or script of util-linux, is not installed; under CI no suite is skipped')
const missing = Object.keys(shells).filter((shell) => !installed.includes(shell))
if (missing.length > 0) console.log(`skipped: completion in ${missing.join(' and ')}, because they are not installed`)

let cluster: Cluster
/** Folder with a `tranche` that completes as usual; any other command is only written to the file `ran`. */
let folder: string

describe.skipIf(installed.length === 0)('completion with Tab', () => {
  beforeAll(async () => {
    cluster = await startCluster(2)
    folder = cluster.folder
    const admin = cluster.simulator.clientFor({ name: 'admin' })
    await admin.create(resources.daemonSets, agentManifest('v1') as never)
    await admin.create({ group: 'rollouts.kruise.io', resource: 'rollouts' }, agentRollout as never)
    const revisions = async () => (await admin.list(resources.controllerRevisions, {})).items
    await vi.waitUntil(async () => (await revisions()).length > 0, { timeout: 30_000, interval: 20 })
    const node = `'${process.execPath}' '${resolve('apps/launcher/bin/tranche.mjs')}'`
    const lines = ['#!/bin/sh', `[ "$1" = __complete ] && exec ${node} "$@"`, `echo "$*" >> '${join(folder, 'ran')}'`]
    writeFileSync(join(folder, 'tranche'), `${lines.join('\n')}\n`)
    chmodSync(join(folder, 'tranche'), 0o755)
    mkdirSync(join(folder, 'home'))
  })
  afterAll(() => cluster.end())

  it.each(installed)('in %s: commands, values, Rollouts, nodes and revisions', async (shell) => {
    const typed = [
      'tranche -n default appro\tag\t',
      'tranche list --output=js\t',
      'tranche explain node/\t2\t',
      'tranche undo agent --to-rev\t\t',
    ]
    writeFileSync(join(folder, 'ran'), '')
    const said = await type(shell, typed)
    const ran = readFileSync(join(folder, 'ran'), 'utf8').replace(/ +$/gm, '').trim().split('\n')
    expect(ran, said).toEqual(['-n default approve agent', 'list --output=json', 'explain node/node-002', 'undo agent --to-revision 1'])
  })
})

/** Types into a shell on a terminal. @returns output of the terminal */
async function type(shell: string, lines: readonly string[]): Promise<string> {
  const script = join(folder, `completion.${shell}`)
  const { stdout } = await runProgram(process.execPath, ['apps/launcher/bin/tranche.mjs', 'completion', shell])
  writeFileSync(script, stdout)
  const env = { PATH: `${folder}:${process.env['PATH']}`, KUBECONFIG: cluster.kubeconfig, HOME: join(folder, 'home') }
  const { start, setUp } = shells[shell]!
  const input = [setUp(script), ...lines, 'exit', ''].join('\n')
  return (await runProgram('script', ['-qec', start, '/dev/null'], { env, input })).stdout
}

function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((place) => existsSync(join(place, program)))
}
