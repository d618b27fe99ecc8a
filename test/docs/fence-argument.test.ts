import { readFileSync, readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { controllerFailpointPorts } from '../../apps/controller/src/index.ts'
import { executorFailpointPorts } from '../../apps/executor/src/index.ts'

const text = readFileSync('docs/contribute/adr/0011-argue-the-fence-crash-point-by-crash-point.md', 'utf8')

it('the argument of the fence has one row for every call at which tranche failpoints can strike', () => {
  const ports = Object.entries({ ...executorFailpointPorts, ...controllerFailpointPorts })
  const calls = ports.flatMap(([port, methods]) => Object.keys(methods).map((method) => `${port}.${method}`))
  const rows = [...text.matchAll(/^\| `(\w+\.\w+)` \|/gm)].map((match) => match[1])
  expect(rows.toSorted()).toEqual(calls.toSorted())
})

it('the argument of the fence names only existing scenarios', () => {
  const table = text.slice(text.indexOf('### And what else goes wrong'), text.indexOf('## Rejected'))
  const named = [...table.matchAll(/\| \*(.+)\* \|$/gm)].map((match) => match[1] ?? '')
  const files = readdirSync('test/scenarios').filter((file) => file.endsWith('.test.ts'))
  const sources = files.map((file) => readFileSync(`test/scenarios/${file}`, 'utf8'))
  expect(named.length).toBeGreaterThan(8)
  expect(named.filter((name) => !sources.some((source) => source.includes(`'${name} (`)))).toEqual([])
})
