import { type MissingParts, pathOfPlace, type Place } from '@tranche/dashboard'
import { type ReactNode, useMemo, useState } from 'react'
import { createHostServices, type HostServices } from '../frame/host-services.ts'
import { HostFrame, HostView } from '../frame/host-frame.tsx'
import { createArgoApi } from './argo-api.ts'
import { argoExchange } from './argo-exchange.ts'
import { createArgoRights } from './argo-rights.ts'
import type { ArgoTabProps } from './argo-types.ts'
import { useArgoTheme } from './use-argo-theme.ts'

const missing: MissingParts = {
  fleet: 'The list of all Rollouts: an Argo CD application shows its own.',
  record: 'The record over all Rollouts: it is in the dashboard.',
  plan: 'A forecast, which runs the whole system on a copy of the cluster: use tranche plan or the dashboard.',
  print: 'The printed report of a release: print it from the dashboard.',
}

/** Tab of a Rollout in Argo CD: its release, its nodes and the actions on it. */
export function RolloutTab(props: ArgoTabProps): ReactNode {
  const { application, resource } = props
  const { namespace = '', name } = resource.metadata
  const { namespace: appNamespace, name: appName } = application.metadata
  return <Tab key={`${appNamespace} ${appName} ${namespace} ${name}`} {...props} />
}

function Tab({ application, resource }: ArgoTabProps): ReactNode {
  const { namespace = '', name } = resource.metadata
  const key = useMemo(() => ({ namespace, name }), [namespace, name])
  const [place, setPlace] = useState<Place>({ view: 'rollout', key })
  const services = useServices(application, key)
  const scheme = useArgoTheme()
  return (
    <HostFrame services={services} host="Argo CD" scheme={scheme} missing={missing} urlOf={urlOf} go={setPlace}>
      <HostView place={place} />
    </HostFrame>
  )
}

/** Argo CD has no URL for a place within a tab. */
function urlOf(place: Place): string {
  return `#tranche/${pathOfPlace(place)}`
}

/** The services of the first application that is shown: Argo CD makes a new object of it for every change. */
function useServices(application: ArgoTabProps['application'], key: { readonly namespace: string; readonly name: string }): HostServices {
  const [first] = useState(application)
  return useMemo(() => {
    const api = createArgoApi(first, document.baseURI, (input, init) => fetch(input, init))
    return createHostServices({
      exchange: argoExchange({ api, nowMs: () => Date.now() }),
      component: 'tranche-argo-cd',
      username: () => api.username(),
      rights: createArgoRights(api, first),
      fleet: () => [key],
    })
  }, [first, key])
}
