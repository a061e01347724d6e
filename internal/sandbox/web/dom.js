// Builds elements. Text only ever becomes text: nothing here reads HTML.

/** el makes an element; properties that begin with on are listeners, null ones are left out. */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'class') node.className = value;
    else if (name in node && typeof value !== 'string') node[name] = value;
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

export const byID = id => document.getElementById(id);

/** say shows a message for a while; one that went wrong stays longer and interrupts. */
export function say(text, wrong = false) {
  const note = el('p', {class: wrong ? 'toast wrong' : 'toast', role: wrong ? 'alert' : null}, text);
  byID('toasts').append(note);
  setTimeout(() => note.remove(), wrong ? 9000 : 4000);
}

/** tablist makes a row of tabs work: arrows move, the chosen one is shown. */
export function tablist(list, choose) {
  const tabs = () => [...list.querySelectorAll('[role=tab]')];
  const select = (tab, focus) => {
    for (const other of tabs()) {
      other.setAttribute('aria-selected', String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
    }
    if (focus) tab.focus();
    tab.scrollIntoView({block: 'nearest', inline: 'nearest'});
    choose(tab);
  };
  list.addEventListener('click', event => {
    const tab = event.target.closest('[role=tab]');
    if (tab) select(tab, false);
  });
  list.addEventListener('keydown', event => {
    const all = tabs(), at = all.indexOf(event.target.closest('[role=tab]'));
    const to = {ArrowRight: at + 1, ArrowLeft: at - 1 + all.length, Home: 0, End: all.length - 1}[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    select(all[to % all.length], true);
  });
  return select;
}
