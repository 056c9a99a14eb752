import { Search } from 'lucide-preact';
import { useRef, useState } from 'preact/hooks';
import { idIn } from '../parts/find-id';
import { Icon } from '../parts/icon';
import { useKeys } from '../parts/shortcuts';
import { useLookUp } from '../parts/use-look-up';
import { TEXT } from '../text/en';

/** Opens the screen of a delivery, an event or a webhook by its id. */
export function LookUp() {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [isNoId, setNoId] = useState(false);
  const { lookUp, isPending, said, forget } = useLookUp();
  useKeys({ '/': () => input.current?.focus() });
  const submit = (event: Event) => {
    event.preventDefault();
    const id = idIn(text);
    setNoId(id === null);
    if (id !== null) lookUp(id, { onSuccess: (place) => place !== null && setText('') });
  };
  return (
    <form class="look-up" role="search" aria-label={TEXT.lookUp.label} onSubmit={submit}>
      <div class="filter-box">
        <Icon of={Search} />
        <input
          ref={input}
          type="search"
          aria-label={TEXT.lookUp.label}
          placeholder={TEXT.lookUp.label}
          title={TEXT.lookUp.hint}
          autocomplete="off"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setNoId(false);
            forget();
          }}
        />
      </div>
      <span role="status" class="small">
        {isPending ? TEXT.lookUp.looking : isNoId ? TEXT.lookUp.noId : said}
      </span>
    </form>
  );
}
