import { createElement, type ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { BlockedNodes } from '../src/pages/rollout/blocked-nodes.tsx'
import { LeftNodesSection } from '../src/pages/rollout/left-nodes.tsx'
import { PinnedConfigSection } from '../src/pages/rollout/pinned-config.tsx'
import { type DashboardPorts, PortsContext } from '../src/ports/dashboard-ports.ts'
import { report } from './builders.ts'

it('nodes that keep their old pod are links with their messages', () => {
  const blockedNodes = [{ node: 'node-3', reason: 'NoRoom', message: 'cpu is short by 200m' }]
  const html = markup(createElement(BlockedNodes, { report: report({ blockedNodes }) }))
  expect(html).toContain('<a href="/node/demo/agent/node-3"><bdi>node-3</bdi></a>')
  expect(html).toContain('cpu is short by 200m')
})

it('nodes that the release leaves have their cause and what ends it, and the first ones are links', () => {
  const nodes = Array.from({ length: 9 }, (_, at) => `node-${at}`)
  const left = { cause: 'Dead', count: 12, nodes, message: '12 nodes are dead', next: 'updated on return' } as const
  const html = markup(createElement(LeftNodesSection, { report: report({ leftNodes: [left] }) }))
  expect(html).toContain('12 nodes are dead, updated on return')
  expect(html).toContain('<a href="/node/demo/agent/node-7"><bdi>node-7</bdi></a>')
  expect(html).not.toContain('node-8')
  expect(html).toContain('and 4 nodes more')
})

it('pinned config is listed with its copies', () => {
  const pinnedConfig = [{ kind: 'ConfigMap', name: 'agent', copy: 'agent-1a2b' }] as const
  const html = markup(createElement(PinnedConfigSection, { report: report({ pinnedConfig }) }))
  expect(html).toContain('ConfigMap <bdi>agent</bdi>')
  expect(html).toContain('<code>agent-1a2b</code>')
})

it.each(['RolledBack', 'PinnedBefore'])('pinned config is shown with the message that its copies follow no change (%s)', (reason) => {
  const pinnedConfig = [{ kind: 'ConfigMap', name: 'agent', copy: 'agent-1a2b' }] as const
  const conditions = [{ type: 'ConfigUnversioned', status: 'False', reason, message: 'pods read copies that follow no change' }]
  expect(markup(createElement(PinnedConfigSection, { report: report({ pinnedConfig, conditions }) }))).toContain('that follow no change')
})

it.each([BlockedNodes, LeftNodesSection, PinnedConfigSection])('without such nodes or config nothing is shown', (section) => {
  expect(markup(createElement(section, { report: report() }))).toBe('')
})

/** The links lead to `/VIEW/NAMESPACE/NAME/NODE`. */
function markup(part: ReactElement): string {
  const ports = {
    missing: {},
    go: () => {},
    urlOf: (place: Parameters<DashboardPorts['urlOf']>[0]) =>
      place.view === 'node' ? `/node/${place.key.namespace}/${place.key.name}/${place.node}` : '/',
  } as unknown as DashboardPorts
  return renderToStaticMarkup(createElement(PortsContext, { value: ports }, part))
}
