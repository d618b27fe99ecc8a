import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { nextCommands, programCommands } from '../src/dev/next-commands.ts'

describe('nextCommands', () => {
  const dashboard = `http://127.0.0.1:43210/login/link?code=${'A'.repeat(32)}`
  const text = nextCommands({ dashboard, kubeconfig: '/tmp/tranche-a1b2c3/kubeconfig', demo: true, version: 'v2', program: 'tranche' })

  it('begins with the link to the dashboard, if there is one', () => {
    expect(text.split('\n').slice(0, 5)).toEqual([
      'Open the dashboard; the link works once, for ten minutes:',
      '',
      `  ${dashboard}`,
      '',
      'In another terminal:',
    ])
    expect(nextCommands({ dashboard: undefined, kubeconfig: '/tmp/k', demo: true, version: 'v2', program: 'tranche' })).toMatch(
      /^In another terminal:\n/,
    )
  })

  it('gives the command that builds the dashboard instead of a link that opens none', () => {
    const lines = nextCommands({ dashboard: null, kubeconfig: '/tmp/k', demo: true, version: 'v2', program: 'tranche' }).split('\n')
    expect(lines.slice(0, 5)).toEqual([
      'The dashboard is not built. Build it in the checkout, and start this command again:',
      '',
      '  npx -y pnpm@12.21.0 --filter @tranche/dashboard build',
      '',
      'In another terminal:',
    ])
  })

  it('is no wider than 80 columns', () => {
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  it('can be copied: a shell joins the continued lines', () => {
    const commands = text.split('\n').slice(6, -2).join('\n')
    const heard = execFileSync('sh', ['-c', `kubectl() { echo "$*"; }\ntranche() { echo "$*"; }\n${commands}`], { encoding: 'utf8' })
    expect(heard.trim().split('\n')).toEqual([
      'get node-agent -n demo -w',
      '-n demo set image daemonset/node-agent agent=registry.example/node-agent:v2',
      'approve node-agent -n demo',
      '-n demo set image daemonset/node-agent agent=registry.example/node-agent:v2-bad-pull',
    ])
  })

  it('starts the program as the user can', () => {
    const commands = nextCommands({ dashboard: undefined, kubeconfig: '/tmp/k', demo: true, version: 'v2', program: 'npx tranche' })
    expect(commands.match(/^.*tranche \w+/gm)).toEqual(['  npx tranche get', '  npx tranche approve'])
  })

  it('quotes a path that a shell would split', () => {
    expect(nextCommands({ dashboard: undefined, kubeconfig: "/tmp/it's here", demo: false, version: 'v2', program: 'tranche' })).toContain(
      "export KUBECONFIG='/tmp/it'\\''s here'",
    )
  })
})

describe('programCommands', () => {
  it('start the program as the user can', () => {
    const commands = programCommands('/tmp/k', 'npx -y pnpm@12.21.0 tranche')
    expect(commands).toContain('  npx -y pnpm@12.21.0 tranche controller --kubeconfig /tmp/k')
  })

  it('start a controller and an executor, even if the path contains a space', () => {
    const commands = programCommands("/tmp/it's here", 'tranche').split('\n').slice(2).join('\n')
    const heard = execFileSync('sh', ['-c', `tranche() { echo "$*"; }\n${commands}`], { encoding: 'utf8' })
    expect(heard.trim().split('\n')).toEqual(["controller --kubeconfig /tmp/it's here", "executor --kubeconfig /tmp/it's here"])
  })
})
