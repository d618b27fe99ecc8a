import * as React from 'react'
import { type ComponentType, createElement, type ReactNode } from 'react'
import type { ArgoTabProps } from './argo-types.ts'
import { RolloutTab } from './rollout-tab.tsx'

/** Global by which Argo CD takes extensions. */
interface ExtensionsApi {
  registerResourceExtension(
    component: ComponentType<ArgoTabProps>,
    group: string,
    kind: string,
    title: string,
    options: { readonly icon: string },
  ): void
}

/** Says what is missing where Argo CD has a React without the hooks of version 18. */
function TooOld(): ReactNode {
  return createElement('p', null, `This tab needs React 18, and this Argo CD has React ${React.version}: use the dashboard of Tranche.`)
}

const { extensionsAPI } = globalThis as { readonly extensionsAPI?: ExtensionsApi }
const tab = 'useSyncExternalStore' in React ? RolloutTab : TooOld
extensionsAPI?.registerResourceExtension(tab, 'rollouts.kruise.io', 'Rollout', 'Release', { icon: 'fa-layer-group' })
