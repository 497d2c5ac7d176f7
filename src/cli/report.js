//<![CDATA[
(function () {
  'use strict';
  function make(name, words, act) {
    var made = document.createElement(name);
    made.textContent = words;
    if (act) made.addEventListener('click', act);
    return made;
  }
  function all(where, what) { return Array.prototype.slice.call(where.querySelectorAll(what)); }

  var tools = document.getElementById('tools');
  var label = make('label', 'Filter rows ');
  var filter = document.createElement('input');
  filter.type = 'search';
  label.appendChild(filter);
  tools.appendChild(label);
  filter.addEventListener('input', function () {
    var word = filter.value.toLowerCase();
    all(document, 'tbody tr').forEach(function (row) {
      row.hidden = row.textContent.toLowerCase().indexOf(word) === -1;
    });
  });

  var themes = ['system', 'light', 'dark'], theme = 0;
  var paint = make('button', 'Theme: system', function () {
    theme = (theme + 1) % 3;
    if (theme === 0) document.documentElement.removeAttribute('data-theme');
    else document.documentElement.setAttribute('data-theme', themes[theme]);
    paint.textContent = 'Theme: ' + themes[theme];
  });
  tools.appendChild(paint);

  function value(row, column) {
    var words = row.cells[column].textContent, number = parseFloat(words);
    return { words: words, number: isNaN(number) ? Infinity : number };
  }
  function sort(table, column, numbers, up) {
    var body = table.tBodies[0];
    all(body, 'tr').sort(function (a, b) {
      var x = value(a, column), y = value(b, column);
      var order = numbers && x.number !== y.number ? (x.number > y.number ? 1 : -1)
        : x.words.localeCompare(y.words);
      return up ? order : -order;
    }).forEach(function (row) { body.appendChild(row); });
  }
  function csv(table) {
    return all(table, 'tr').map(function (row) {
      return Array.prototype.map.call(row.cells, function (cell) {
        return '"' + cell.textContent.replace(/"/g, '""') + '"';
      }).join(',');
    }).join('\n') + '\n';
  }
  function copy(text, button) {
    function done(ok) { button.textContent = ok ? 'Copied' : 'Not copied'; }
    if (navigator.clipboard) {
      navigator.clipboard.writeText(text).then(function () { done(true); }, function () { done(false); });
      return;
    }
    var area = document.createElement('textarea');
    area.value = text;
    document.body.appendChild(area);
    area.select();
    done(document.execCommand('copy'));
    document.body.removeChild(area);
  }
  all(document, 'table').forEach(function (table) {
    all(table, 'thead th').forEach(function (head, column) {
      var up = false, words = head.textContent;
      head.textContent = '';
      head.appendChild(make('button', words, function () {
        up = !up;
        all(table, 'thead th').forEach(function (other) { other.removeAttribute('aria-sort'); });
        head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        sort(table, column, head.className === 'n', up);
      }));
    });
    var button = make('button', 'Copy as CSV', function () { copy(csv(table), button); });
    button.className = 'c';
    table.parentNode.insertBefore(button, table);
  });
}());
//]]>
