/**
 * Plays Argo CD for one extension: gives it the globals of the host, loads its file as Argo CD does, and shows the tab that it registers for
 * a Rollout. Written after the documentation and the behaviour of Argo CD 3.5.
 */
import * as React from 'react'
import * as ReactDOM from 'react-dom'
import { createRoot } from 'react-dom/client'
import * as ReactJSXRuntime from 'react/jsx-runtime'

interface TabProps {
  readonly resource: object
  readonly tree: object
  readonly application: object
}

const tabs: { readonly component: React.ComponentType<TabProps>; readonly group: string; readonly kind: string; readonly title: string }[] =
  []
const search = new URLSearchParams(window.location.search)
const { useSyncExternalStore: _, ...older } = React

Object.assign(window, {
  // Before 3.5: React 16, and no other module.
  ...(search.has('old') ? { React: { ...older, version: '16.14.0' } } : { React, ReactDOM, ReactJSXRuntime }),
  extensionsAPI: {
    registerResourceExtension(component: React.ComponentType<TabProps>, group: string, kind: string, title: string) {
      tabs.push({ component, group, kind, title })
    },
  },
})

function Host({ tree }: { readonly tree: object }): React.ReactNode {
  const [theme, setTheme] = React.useState('light')
  const [shown, setShown] = React.useState<string | null>(null)
  const tab = tabs.find(({ title, group, kind }) => title === shown && group === 'rollouts.kruise.io' && kind === 'Rollout')
  const buttons = tabs.map(({ title }) =>
    React.createElement('button', { key: title, type: 'button', onClick: () => setShown(title) }, title),
  )
  const props = {
    resource: { kind: 'Rollout', metadata: { namespace: 'agents', name: search.get('rollout') ?? '' } },
    application: { metadata: { namespace: 'argocd', name: 'agents' }, spec: { project: 'default' } },
    tree,
  }
  return React.createElement(
    'div',
    { className: `theme-${theme}` },
    React.createElement('nav', { 'aria-label': 'Host' }, ...buttons),
    React.createElement('button', { type: 'button', onClick: () => setTheme(theme === 'light' ? 'dark' : 'light') }, 'Other theme'),
    React.createElement(
      'main',
      null,
      tab === undefined ? React.createElement('h1', null, 'Host') : React.createElement(tab.component, props),
    ),
  )
}

async function start(): Promise<void> {
  const tree = (await (await fetch('/api/v1/applications/agents/resource-tree')).json()) as object
  const script = document.createElement('script')
  script.src = '/extensions.js'
  const loaded = new Promise((resolve) => script.addEventListener('load', resolve))
  document.body.append(script)
  await loaded
  createRoot(document.getElementById('root')!).render(React.createElement(Host, { tree }))
}

void start()
