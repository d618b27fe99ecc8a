/**
 * Plays Headlamp for one plugin: gives it the modules of the host by their documented globals, loads its file as Headlamp does, and shows the
 * route of the URL. Written after the documentation and the behaviour of Headlamp 0.45; React is the version of that host.
 */
import * as React from 'react'
import * as ReactDOM from 'react-dom'
import { createRoot } from 'react-dom/client'
import * as ReactJSX from 'react/jsx-runtime'

interface Route {
  readonly path: string
  readonly exact: boolean
  readonly name: string
  readonly component: React.ComponentType
}

interface Details {
  readonly kind: string
  readonly cluster: string
  readonly jsonData: object
}

interface ActionButton {
  readonly description: string
  readonly onClick: () => void
}

const routes: Route[] = []
const entries: { readonly name: string; readonly label: string; readonly url: string }[] = []
const sections: React.ComponentType<{ readonly resource: Details | null }>[] = []
const headerActions: React.ComponentType<{ readonly item: Details }>[] = []

/** React Router 5, with the path of the page after `#`, as in the desktop application. */
const listeners = new Set<() => void>()
const urlNow = (): string => window.location.hash.slice(1) || '/c/demo'
window.addEventListener('hashchange', () => listeners.forEach((listener) => listener()))
const history = {
  push(url: string): void {
    window.location.hash = url
  },
  replace(url: string): void {
    window.history.replaceState(null, '', `#${url}`)
    for (const listener of listeners) listener()
  },
  createHref: ({ pathname, search }: { readonly pathname: string; readonly search: string }): string => `#${pathname}${search}`,
}

function useUrl(): string {
  return React.useSyncExternalStore((onChange) => {
    listeners.add(onChange)
    return () => listeners.delete(onChange)
  }, urlNow)
}

const ReactRouter = {
  useHistory: () => history,
  useLocation() {
    const [pathname = '', search] = useUrl().split('?', 2)
    return { pathname, search: search === undefined ? '' : `?${search}` }
  },
}

let mode: 'light' | 'dark' = 'light'
const themeListeners = new Set<() => void>()
const MuiMaterial = {
  styles: {
    useTheme: () => ({
      palette: {
        mode: React.useSyncExternalStore(
          (onChange) => {
            themeListeners.add(onChange)
            return () => themeListeners.delete(onChange)
          },
          () => mode,
        ),
      },
    }),
  },
}

interface ClusterRequest extends RequestInit {
  readonly cluster: string
  readonly isJSON: boolean
}

/** Sends to the back end of the host, and makes an error of every answer that is not 2xx. */
async function clusterRequest(path: string, { cluster, isJSON, ...init }: ClusterRequest): Promise<unknown> {
  const response = await fetch(`/clusters/${cluster}${path}`, init)
  if (response.ok) return isJSON ? response.json() : response
  const { message } = (await response.json().catch(() => ({}))) as { readonly message?: string }
  throw Object.assign(new Error(`${response.statusText} - ${message}`), { status: response.status })
}

Object.assign(window, {
  pluginLib: {
    React,
    ReactDOM,
    ReactJSX,
    ReactRouter,
    MuiMaterial,
    ApiProxy: { clusterRequest },
    CommonComponents: {
      ActionButton: ({ description, onClick }: ActionButton) =>
        React.createElement('button', { type: 'button', 'aria-label': description, onClick }),
    },
    K8s: { useCluster: () => /^\/c\/([^/?]+)/.exec(useUrl())?.[1] ?? null },
    registerRoute: (route: Route) => routes.push(route),
    registerSidebarEntry: (entry: (typeof entries)[number]) => entries.push(entry),
    registerDetailsViewSection: (section: (typeof sections)[number]) => sections.push(section),
    registerDetailsViewHeaderAction: (action: (typeof headerActions)[number]) => headerActions.push(action),
  },
  setHostTheme(next: 'light' | 'dark') {
    mode = next
    document.documentElement.dataset['theme'] = next
    for (const listener of themeListeners) listener()
  },
})

/** A switch of React Router 5: the first route that matches, each with a key of its own, so that another route is mounted again. */
function Host(): React.ReactNode {
  const [path = ''] = useUrl().split('?', 1)
  const inCluster = path.replace(/^\/c\/[^/]+/, '')
  const route = routes.find((one) => (one.exact ? inCluster === one.path : `${inCluster}/`.startsWith(`${one.path}/`)))
  const links = entries.map(({ name, label, url }) => React.createElement('a', { key: name, href: `#/c/demo${url}` }, label))
  return React.createElement(
    React.Fragment,
    null,
    React.createElement('nav', { 'aria-label': 'Host' }, ...links),
    React.createElement(
      'main',
      null,
      route === undefined ? detailsOf(inCluster) : React.createElement(route.component, { key: route.path }),
    ),
  )
}

/** Page of an object. Plugins add actions to its header, and sections if its kind is built-in. */
function detailsOf(path: string): React.ReactNode {
  const [, kind, namespace, name] = /^\/details\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path) ?? []
  if (kind === undefined) return React.createElement('h1', null, 'Host')
  const isCustom = kind === 'Rollout'
  const metadata = { namespace, name, ...(!isCustom && { annotations: { 'tranche.dev/rollout': name } }) }
  const resource = { kind, cluster: 'demo', jsonData: { apiVersion: isCustom ? 'rollouts.kruise.io/v1beta1' : 'apps/v1', metadata } }
  return [
    React.createElement('h1', { key: 'name' }, name),
    ...headerActions.map((action, at) => React.createElement(action, { key: `action ${at}`, item: resource })),
    ...(isCustom ? [] : sections.map((section, at) => React.createElement(section, { key: `section ${at}`, resource }))),
  ]
}

async function start(): Promise<void> {
  const source = await (await fetch('/plugins/tranche/main.js')).text()
  // oxlint-disable-next-line typescript/no-implied-eval -- the host runs the text of the file as a function
  new Function(source)()
  createRoot(document.getElementById('root')!).render(React.createElement(Host))
}

void start()
