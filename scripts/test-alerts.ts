/**
 * Tests the alerts of the chart with Prometheus' promtool: `pnpm test:alerts`. Helm renders the rules, and promtool checks them. Then each
 * story of test/alerts runs in virtual time, and `promtool test rules` evaluates its metrics: the alert of the story must fire, and no alert
 * may fire if nothing goes wrong.
 *
 *   pnpm test:alerts                                all stories
 *   pnpm test:alerts TrancheDeletesFail             one story; in `none`, no alert may fire
 *   pnpm test:alerts --promtool /opt/promtool       if promtool is not on the PATH
 *
 * Exits with 1 if a rule is wrong or an alert does not fire.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { stringify } from 'yaml'
import { promtoolFile } from '../test/alerts/promtool-file.ts'
import { stories } from '../test/alerts/stories.ts'
import { render } from '../test/chart/chart.ts'

const { values, positionals: chosen } = parseArgs({
  options: { promtool: { type: 'string', default: 'promtool' } },
  allowPositionals: true,
})
const { promtool } = values
const unknown = chosen.filter((name) => !stories.some(({ alert }) => nameOf(alert) === name))
if (unknown.length > 0)
  throw new Error(
    `there is no story of ${unknown.join(', ')}; there are ${[...new Set(stories.map(({ alert }) => nameOf(alert)))].join(', ')}`,
  )

const folder = mkdtempSync(join(tmpdir(), 'tranche-alerts-'))
try {
  console.log(versionOf(promtool))
  const modes = { allInOne: {}, distributed: { mode: 'distributed', redis: { url: 'redis://redis:6379' } } }
  for (const [name, choice] of Object.entries(modes)) {
    const groups = await groupsOf(choice)
    writeFileSync(join(folder, `${name}.yaml`), stringify({ groups }, { lineWidth: 0 }))
    run(`the rules of the chart, ${name}`, ['check', 'rules', join(folder, `${name}.yaml`)])
  }
  for (const { alert, title, play } of stories.filter((story) => chosen.length === 0 || chosen.includes(nameOf(story.alert)))) {
    const file = join(folder, 'test.yaml')
    writeFileSync(file, promtoolFile(join(folder, 'distributed.yaml'), { looks: await play(), alert }))
    run(`${nameOf(alert)}: ${title}`, ['test', 'rules', file])
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function nameOf(alert: string | null): string {
  return alert ?? 'none'
}

function versionOf(program: string): string {
  try {
    return execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n')[0] ?? ''
  } catch {
    console.error(
      `there is no ${program}: it comes with Prometheus (Debian: apt-get install prometheus); --promtool PATH names another one`,
    )
    process.exit(2)
  }
}

async function groupsOf(values: object): Promise<unknown> {
  const objects = await render({ ...values, metrics: { prometheusRule: { enabled: true } } })
  return (objects.find(({ kind }) => kind === 'PrometheusRule')?.spec as { readonly groups?: unknown } | undefined)?.groups
}

function run(what: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: 'utf8' })
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${what}`)
  if (status === 0) return
  console.log(`${stdout}${stderr}`)
  process.exitCode = 1
}
