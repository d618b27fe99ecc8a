import { useData, withBase } from 'vitepress'
import { defineComponent, h, onMounted, ref } from 'vue'

/**
 * Menu of the versions of the site. The list is a file beside the folders of the versions, so an old version also shows those that were
 * built later.
 */
export const VersionMenu = defineComponent({
  name: 'VersionMenu',
  setup() {
    const { theme } = useData<{ version: string }>()
    const versions = ref<readonly string[]>([theme.value.version])
    onMounted(async () => {
      // A copy of one version has no list, and a menu of itself alone.
      const answer = await fetch(withBase('/../versions.json')).catch(() => null)
      if (answer?.ok) versions.value = (await answer.json()) as readonly string[]
    })
    const open = (event: Event) => location.assign(withBase(`/../${(event.target as HTMLSelectElement).value}/`))
    return () =>
      h('label', { class: 'version-menu' }, [
        h('span', { class: 'visually-hidden' }, 'Version'),
        h(
          'select',
          { value: theme.value.version, onChange: open },
          versions.value.map((version) => h('option', { value: version }, version)),
        ),
      ])
  },
})
