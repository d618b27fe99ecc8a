import { createElement, type ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { KeptNodes } from '../src/pages/rollout/kept-nodes.tsx'
import { type DashboardPorts, PortsContext } from '../src/ports/dashboard-ports.ts'
import { report } from './builders.ts'

it('nodes that keep their old pod are links with their messages', () => {
  const keptNodes = [{ node: 'node-3', reason: 'NoRoom', message: 'cpu is short by 200m' }]
  const html = markup(createElement(KeptNodes, { report: report({ keptNodes }) }))
  expect(html).toContain('<a href="/node/demo/agent/node-3"><bdi>node-3</bdi></a>')
  expect(html).toContain('cpu is short by 200m')
})

it('without such nodes nothing is shown', () => {
  expect(markup(createElement(KeptNodes, { report: report() }))).toBe('')
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
