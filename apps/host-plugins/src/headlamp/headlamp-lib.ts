import type { ComponentType, ReactNode } from 'react'

/** What this plugin uses of `pluginLib`, the global by which Headlamp gives plugins its modules. */
export interface HeadlampLib {
  readonly ApiProxy: {
    /** Sends a request to the API server of a cluster, as the user of Headlamp. Rejects with an error that has the HTTP status. */
    clusterRequest(path: string, params: HeadlampRequest): Promise<unknown>
  }
  readonly CommonComponents: {
    readonly ActionButton: ComponentType<HeadlampActionButton>
  }
  readonly K8s: {
    /** Hook. @returns the cluster of the URL; null outside a cluster */
    useCluster(): string | null
  }
  readonly MuiMaterial: {
    readonly styles: {
      /** Hook. */
      useTheme(): { readonly palette: { readonly mode: 'light' | 'dark' } }
    }
  }
  readonly ReactRouter: {
    /** Hook. */
    useHistory(): HeadlampHistory
    /** Hook. */
    useLocation(): HeadlampLocation
  }
  registerRoute(route: HeadlampRoute): void
  registerSidebarEntry(entry: HeadlampSidebarEntry): void
  /** The section is in pages of built-in kinds only, not in those of custom resources. */
  registerDetailsViewSection(section: ComponentType<HeadlampDetails>): void
  registerDetailsViewHeaderAction(action: ComponentType<HeadlampHeaderAction>): void
}

/** @see RequestInit */
export interface HeadlampRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  readonly cluster: string
  /** False: the answer is the `Response`. */
  readonly isJSON: false
  readonly autoLogoutOnAuthError: boolean
}

/** History of React Router 5. */
export interface HeadlampHistory {
  push(url: string): void
  replace(url: string): void
  /** @returns URL of a location, for links */
  createHref(location: { readonly pathname: string; readonly search: string }): string
}

/** Location of React Router 5, without the base of the host. */
export interface HeadlampLocation {
  readonly pathname: string
  readonly search: string
}

/** Page below the URL of a cluster. */
export interface HeadlampRoute {
  readonly path: string
  /** False: paths below it match too. */
  readonly exact: boolean
  /** Title of the page. */
  readonly name: string
  /** Sidebar entry that is marked. */
  readonly sidebar: string
  readonly component: () => ReactNode
}

/** Entry of the sidebar. */
export interface HeadlampSidebarEntry {
  /** Name of the entry above it; null: none. */
  readonly parent: string | null
  readonly name: string
  readonly label: string
  readonly url: string
  /** Name of an icon of Iconify. */
  readonly icon?: string
}

/** Properties of a button in the style of Headlamp. */
export interface HeadlampActionButton {
  readonly description: string
  /** Name of an icon of Iconify. */
  readonly icon: string
  readonly onClick: () => void
}

/** Properties of a section in the page of an object. */
export interface HeadlampDetails {
  /** Null until it is read. */
  readonly resource: HeadlampObject | null
}

/** Properties of an action in the header of the page of an object. */
export interface HeadlampHeaderAction {
  readonly item: HeadlampObject
}

/** Object of a cluster. */
export interface HeadlampObject {
  readonly kind: string
  /** Name of the cluster that has the object. */
  readonly cluster: string
  readonly jsonData: {
    readonly apiVersion?: string
    readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: Readonly<Record<string, string>> }
  }
}

/** @returns the modules of the host. @throws {Error} outside Headlamp */
export function headlampLib(): HeadlampLib {
  const { pluginLib } = globalThis as { readonly pluginLib?: HeadlampLib }
  if (pluginLib === undefined) throw new Error('this file is a plugin of Headlamp')
  return pluginLib
}
